"""Ten invented tables with rules of the kinds that offices have: what must hold in accounts, farms, schools, hospitals.

A function for each draws a table of some records; ``RULES`` are what it satisfies, and ``KEPT`` the columns that are
released as they are. Shares and ratios are rounded as a questionnaire would have them, and tied with slack.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

Draw = np.random.Generator


def whole(draw: Draw, n: int, mean: float, spread: float = 1.0, none: float = 0.0) -> np.ndarray:
    """Draw whole numbers above 0, log-normal round a mean of logarithms, and 0 for a share of the records."""
    numbers = np.maximum(np.rint(draw.lognormal(mean, spread, n)), 1).astype(np.int64)
    return np.where(draw.random(n) < none, 0, numbers)


def balance_sheet(draw: Draw, n: int) -> pl.DataFrame:
    """Firms: assets and what they are paid with."""
    fixed, cash, stock = whole(draw, n, 6), whole(draw, n, 4), whole(draw, n, 5, none=0.2)
    assets = fixed + cash + stock
    debts = np.rint(assets * draw.beta(2, 3, n)).astype(np.int64)
    columns = {"fixed": fixed, "cash": cash, "stock": stock, "current": cash + stock, "assets": assets, "debts": debts}
    return pl.DataFrame({**columns, "equity": assets - debts, "leverage": np.round(100 * debts / assets, 1)})


def energy(draw: Draw, n: int) -> pl.DataFrame:
    """Utilities: sales and revenue by kind of customer, of which some have none."""
    homes, shops, works = whole(draw, n, 6), whole(draw, n, 5, none=0.2), whole(draw, n, 6, none=0.3)
    paid = [np.rint(kind * draw.uniform(5, 15, n)).astype(np.int64) for kind in (homes, shops, works)]
    columns = {"homes": homes, "shops": shops, "works": works, "sales": homes + shops + works}
    columns |= {"from_homes": paid[0], "from_shops": paid[1], "from_works": paid[2], "revenue": sum(paid)}
    return pl.DataFrame(columns).with_columns(price=(pl.col("revenue") / pl.col("sales")).round(2))


def wages(draw: Draw, n: int) -> pl.DataFrame:
    """Persons: hours, rates and pay."""
    hours = np.where(draw.random(n) < 0.15, 0, draw.integers(4, 60, n))
    rate = np.round(draw.lognormal(2.8, 0.4, n), 2)
    pay = np.round(hours * rate, 2)
    bonus = np.where(draw.random(n) < 0.6, 0.0, np.round(draw.lognormal(4, 1, n), 2))
    gross = np.round(pay + bonus, 2)
    tax = np.round(gross * draw.uniform(0.1, 0.4, n), 2)
    columns = {"hours": hours, "rate": rate, "pay": pay, "bonus": bonus, "gross": gross, "tax": tax}
    return pl.DataFrame({**columns, "net": np.round(gross - tax, 2)})


def education(draw: Draw, n: int) -> pl.DataFrame:
    """Schools: pupils, classes and teachers."""
    girls, boys = whole(draw, n, 5, 0.6), whole(draw, n, 5, 0.6)
    pupils = girls + boys
    teachers = np.maximum(pupils // draw.integers(8, 25, n), 1)
    classes = np.maximum(pupils // draw.integers(15, 30, n), 1)
    boarders = np.where(draw.random(n) < 0.7, 0, np.rint(pupils * draw.random(n)).astype(np.int64))
    beds = np.where(boarders == 0, 0, boarders + draw.integers(0, 30, n))
    columns = {"girls": girls, "boys": boys, "pupils": pupils, "teachers": teachers, "classes": classes}
    columns |= {"boarders": boarders, "beds": beds, "leavers": np.rint(pupils * draw.uniform(0, 0.3, n)).astype(int)}
    return pl.DataFrame(columns).with_columns(ratio=(pl.col("pupils") / pl.col("teachers")).round(1))


def households(draw: Draw, n: int) -> pl.DataFrame:
    """Households: who is in them, what they earn, and what they spend it on."""
    owns = np.where(draw.random(n) < 0.45, "own", "rent")
    adults = draw.integers(1, 5, n)
    children = np.where(draw.random(n) < 0.5, 0, draw.integers(1, 5, n))
    rent = np.where(owns == "own", 0, whole(draw, n, 6.5, 0.4))
    food, other = whole(draw, n, 6, 0.5), whole(draw, n, 6.5, 0.7)
    care = np.where(children == 0, 0, whole(draw, n, 5, 0.8, 0.3))
    spent = rent + food + other + care
    columns = {"adults": adults, "children": children, "persons": adults + children, "rent": rent, "food": food}
    columns |= {"care": care, "other": other, "spent": spent, "income": spent + whole(draw, n, 6, 1.0, 0.2)}
    return pl.DataFrame({"tenure": owns, **columns})


def health(draw: Draw, n: int) -> pl.DataFrame:
    """Patients: what was measured, and what they take."""
    sex = np.where(draw.random(n) < 0.5, "M", "F")
    height, weight = np.round(draw.normal(1.7, 0.1, n), 2), np.round(draw.normal(75, 14, n), 1)
    upper = draw.integers(95, 180, n)
    insulin = np.where(draw.random(n) < 0.8, 0, draw.integers(5, 90, n))
    columns = {"height": height, "weight": weight, "bmi": np.round(weight / height**2, 1), "systolic": upper}
    columns |= {"diastolic": upper - draw.integers(20, 60, n), "insulin": insulin, "age": draw.integers(18, 95, n)}
    columns |= {"years_treated": np.where(insulin == 0, 0, draw.integers(1, 15, n))}
    return pl.DataFrame({"sex": sex, **columns, "births": np.where(sex == "M", 0, draw.integers(0, 6, n))})


def trade(draw: Draw, n: int) -> pl.DataFrame:
    """Exporters: prices, quantities, and how much goes abroad."""
    price, quantity = np.round(draw.lognormal(2, 0.6, n), 2), whole(draw, n, 5)
    export, home = whole(draw, n, 6, 1.2, 0.35), whole(draw, n, 7)
    turnover = export + home
    columns = {"price": price, "quantity": quantity, "value": np.round(price * quantity, 2), "export": export}
    columns |= {"home": home, "turnover": turnover, "share": np.round(100 * export / turnover, 1)}
    return pl.DataFrame({**columns, "countries": np.where(export == 0, 0, draw.integers(1, 40, n))})


def farms(draw: Draw, n: int) -> pl.DataFrame:
    """Farms: land and animals."""
    arable, grass, wood = (whole(draw, n, 3, 0.9, none) for none in (0.2, 0.3, 0.5))
    area = arable + grass + wood + 1
    cows, pigs = whole(draw, n, 4, 0.8, 0.5), whole(draw, n, 5, 1.0, 0.7)
    columns = {"arable": arable, "grass": grass, "wood": wood, "yard": np.ones(n, dtype=int), "area": area}
    columns |= {"cows": cows, "milk": np.where(cows == 0, 0, cows * draw.integers(3000, 9000, n)), "pigs": pigs}
    columns |= {"sows": np.rint(pigs * draw.uniform(0, 0.2, n)).astype(int), "organic": area // draw.integers(1, 9, n)}
    return pl.DataFrame(columns)


def transport(draw: Draw, n: int) -> pl.DataFrame:
    """Lines: passengers, distances and freight."""
    passengers, distance = whole(draw, n, 5), np.round(draw.lognormal(3, 0.7, n), 1)
    seats = passengers + whole(draw, n, 4)
    trucks = whole(draw, n, 2, 0.8, 0.4)
    columns = {"passengers": passengers, "distance": distance, "work": np.round(passengers * distance, 1)}
    columns |= {"seats": seats, "load": np.round(100 * passengers / seats, 1), "trucks": trucks}
    columns |= {"tons": np.where(trucks == 0, 0, trucks * draw.integers(5, 25, n)), "staff": whole(draw, n, 4)}
    return pl.DataFrame({**columns, "drivers": np.maximum(columns["staff"] // 2, 1)})


def research(draw: Draw, n: int) -> pl.DataFrame:
    """Firms: who does research, and who pays for it."""
    staff = whole(draw, n, 4) + 1
    busy = draw.random(n) < 0.6
    own, public, abroad = (np.where(busy, whole(draw, n, 5, 1.0, none), 0) for none in (0.1, 0.5, 0.7))
    size = np.where(staff < 50, 1, np.where(staff < 250, 2, 3))
    researchers = np.where(busy, np.maximum(staff // draw.integers(2, 20, n), 1), 0)
    columns = {"staff": staff, "researchers": researchers, "own": own, "public": public, "abroad": abroad}
    columns |= {"budget": own + public + abroad, "patents": np.where(busy, draw.integers(0, 9, n), 0), "size": size}
    return pl.DataFrame(columns)


TABLES: dict[str, Callable[[Draw, int], pl.DataFrame]] = {
    "balance sheet": balance_sheet, "energy": energy, "wages": wages, "education": education,
    "households": households, "health": health, "trade": trade, "farms": farms, "transport": transport,
    "research": research,
}  # fmt: skip
KEPT = {"households": ["tenure"], "health": ["sex"]}
RULES: dict[str, list[str]] = {
    "balance sheet": [
        "current = cash + stock", "assets = fixed + current", "assets = debts + equity", "cash <= current",
        "leverage = 100 * debts / assets within 0.06",
    ],
    "energy": [
        "sales = homes + shops + works", "revenue = from_homes + from_shops + from_works",
        "if shops = 0 then from_shops = 0", "if works = 0 then from_works = 0", "homes >= 1",
        "price = revenue / sales within 0.006",
    ],
    "wages": [
        "pay = hours * rate within 0.01", "gross = pay + bonus within 0.005", "net = gross - tax within 0.005",
        "tax <= gross", "0 <= hours <= 80", "if hours = 0 then pay = 0",
    ],
    "education": [
        "pupils = girls + boys", "boarders <= pupils", "leavers <= pupils", "if boarders = 0 then beds = 0",
        "boarders <= beds", "teachers >= 1", "classes <= pupils", "ratio = pupils / teachers within 0.06",
    ],
    "households": [
        "persons = adults + children", "spent = rent + food + care + other", "spent <= income",
        "if children = 0 then care = 0", "if tenure = 'own' then rent = 0", "adults >= 1",
    ],
    "health": [
        "bmi = weight / (height * height) within 0.06", "diastolic < systolic", "if insulin = 0 then years_treated = 0",
        "if sex = 'M' then births = 0", "18 <= age <= 95", "years_treated <= age",
    ],
    "trade": [
        "value = price * quantity within 0.006", "turnover = export + home",
        "share = 100 * export / turnover within 0.06", "if export = 0 then countries = 0", "0 <= share <= 100",
    ],
    "farms": [
        "area = arable + grass + wood + yard", "if cows = 0 then milk = 0", "sows <= pigs", "organic <= area",
        "yard = 1", "if pigs = 0 then sows = 0",
    ],
    "transport": [
        "work = passengers * distance within 0.06", "load = 100 * passengers / seats within 0.06",
        "passengers <= seats", "if trucks = 0 then tons = 0", "drivers <= staff",
    ],
    "research": [
        "budget = own + public + abroad", "researchers <= staff", "if researchers = 0 then budget = 0",
        "if researchers = 0 then patents = 0", "size in {1, 2, 3}", "if size = 1 then staff < 50",
        "patents from original",
    ],
}  # fmt: skip


def ten_tables(name: str, records: int, seed: int = 0) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Return a table, the columns of it that are quasi-identifiers, and its rules."""
    table = TABLES[name](np.random.default_rng(seed), records)
    kept = KEPT.get(name, [])
    return table, [column for column in table.columns if column not in kept], RULES[name]
