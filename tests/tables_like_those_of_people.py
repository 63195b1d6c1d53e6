"""Ten made-up tables like those that people have, with the role that each column should get."""

from __future__ import annotations

import numpy as np
import polars as pl

N = 400
QUASI, IDENTIFIER, WEIGHT, KEPT = "quasi-identifier", "identifier", "weight", "confidential"
HOUSEHOLD = "household"
CATEGORY = "category"  # a quasi-identifier that is named as nominal, has a hierarchy, or is text


def holes(rng, values, mark, part=0.05):
    return [mark if rng.random() < part else value for value in values]


def money(rng, size=N, scale=10.0):
    return np.exp(rng.normal(scale, 0.6, size)).round(2)


def household_survey(rng):
    households = np.sort(rng.integers(1, 190, N))
    return {
        "hhid": (households, HOUSEHOLD),
        "person": (np.arange(N) % 5 + 1, CATEGORY),
        "sex": (rng.integers(1, 3, N), CATEGORY),
        "age": (rng.integers(0, 95, N), QUASI),
        "region": (rng.integers(1, 17, N), CATEGORY),
        "hhsize": (rng.integers(1, 8, N), QUASI),
        "income": (holes(rng, money(rng), "NA"), QUASI),
        "hhweight": (rng.uniform(80, 400, N).round(3), WEIGHT),
    }


def hospital(rng):
    height = rng.normal(170, 10, N)
    admitted = np.datetime64("2023-01-01") + rng.integers(0, 365, N)
    return {
        "patient_id": (rng.permutation(N) + 70000, IDENTIFIER),
        "admitted": (admitted.astype(str), QUASI),
        "birthdate": ((np.datetime64("1930-01-01") + rng.integers(0, 30000, N)).astype(str), QUASI),
        "gender": (rng.choice(["female", "male"], N), CATEGORY),
        "height": (height.round(1), QUASI),
        "weight": ((0.9 * (height - 100) + rng.normal(0, 8, N)).round(1), QUASI),  # of a body
        "ward": (rng.integers(1, 25, N), CATEGORY),
        "icd_code": (rng.choice(["J45", "I10", "E11", "S72"], N), CATEGORY),
        "blood_pressure": (holes(rng, rng.integers(90, 180, N), "."), QUASI),
        "days": (rng.integers(1, 9, N), QUASI),
    }


def business_accounts(rng):
    return {
        "company": ([f"Company {i} Ltd" for i in range(N)], IDENTIFIER),
        "vat": (rng.integers(10**8, 10**9, N), IDENTIFIER),
        "nace": (rng.choice([1011, 1013, 4711, 6201, 5610, 4120], N), CATEGORY),
        "employees": (rng.integers(1, 400, N), QUASI),
        "turnover": ([f"{v:,.2f}" for v in money(rng, scale=13)], QUASI),
        "margin": ([f"{v:.1f}%" for v in rng.normal(8, 4, N)], QUASI),
        "country": (["ES"] * N, KEPT),
        "legal_form": (rng.choice(["SL", "SA", "SC"], N), CATEGORY),
    }


def credit(rng):
    return {
        "customer_no": (rng.permutation(10 * N)[:N] + 5000, IDENTIFIER),
        "job": (rng.choice(["skilled", "unskilled", "management"], N), CATEGORY),
        "housing": (holes(rng, rng.choice(["own", "rent", "free"], N), "?"), CATEGORY),
        "credit_amount": (rng.integers(300, 18000, N), QUASI),
        "duration": (rng.integers(4, 72, N), QUASI),
        "dependents": (rng.integers(1, 3, N), QUASI),
        "purpose": (rng.choice(["car", "radio", "education"], N), CATEGORY),
        "default": (rng.integers(0, 2, N), CATEGORY),
    }


def school(rng):
    return {
        "Student Name": ([f"Pupil {i}" for i in range(N)], IDENTIFIER),
        "school": (rng.integers(1, 30, N), CATEGORY),
        "class_code": (rng.choice(["007", "012", "101", "102"], N), CATEGORY),
        "grade": (rng.integers(1, 7, N), QUASI),
        "mathematics": (holes(rng, rng.normal(500, 100, N).round(1), "N/A"), QUASI),
        "mother_tongue": (rng.choice(["de", "tr", "it", "en"], N), CATEGORY),
        "born": (rng.integers(2008, 2013, N), QUASI),
    }


def flights(rng):
    days = [f"2013-{m:02}-{d:02}" for m, d in zip(rng.integers(1, 13, N), rng.integers(1, 28, N), strict=True)]
    return {
        "date": (days, QUASI),
        "carrier": (rng.choice(["UA", "AA", "B6", "DL"], N), CATEGORY),
        "origin": (rng.choice(["EWR", "JFK", "LGA"], N), CATEGORY),
        "dep_delay": (holes(rng, rng.integers(-20, 200, N), "NA"), QUASI),
        "air_time": (holes(rng, rng.integers(20, 600, N), "NA"), QUASI),
        "distance": (rng.integers(80, 4900, N), QUASI),
        "time_hour": ([f"{day}T{h:02}:00:00Z" for day, h in zip(days, rng.integers(5, 23, N), strict=True)], QUASI),
    }


def census(rng):
    return {
        "SERIALNO": (np.sort(rng.integers(10**6, 10**6 + 150, N)), HOUSEHOLD),
        "PWGTP": (rng.integers(1, 300, N), WEIGHT),
        "AGEP": (rng.integers(0, 95, N), QUASI),
        "SEX": (rng.integers(1, 3, N), CATEGORY),
        "RACE": (rng.integers(1, 10, N), CATEGORY),
        "STATE": (rng.integers(1, 57, N), CATEGORY),
        "PINCP": (holes(rng, money(rng).round(), ""), QUASI),
        "MARITAL": (rng.integers(1, 6, N), CATEGORY),
    }


def tax(rng):
    income = money(rng)
    return {
        "tax_number": (rng.permutation(N * 7)[:N] + 10**7, IDENTIFIER),
        "income": ([f"{v:.2f}".replace(".", ",") for v in income], QUASI),
        "tax": ([f"{0.2 * v:.2f}".replace(".", ",") for v in income], QUASI),
        "children": (rng.integers(0, 5, N), QUASI),
        "bundesland": (rng.integers(1, 17, N), CATEGORY),
        "married": (rng.choice(["true", "false"], N), CATEGORY),
    }


def energy(rng):
    return {
        "meter_id": ([f"M{i:06}" for i in rng.permutation(N)], IDENTIFIER),
        "reading_at": ([f"2024-02-{d:02} 10:15:00" for d in rng.integers(1, 29, N)], QUASI),
        "kwh": (rng.gamma(3, 700, N).round(2), QUASI),
        "tariff": (rng.choice(["day", "night", "flat"], N), CATEGORY),
        "solar": (rng.integers(0, 2, N), CATEGORY),
        "rooms": (rng.integers(1, 9, N), QUASI),
        "postcode": (rng.choice(["08001", "43001", "17001", "25001"], N), CATEGORY),
    }


def bird_strikes(rng):
    return {
        "Record ID": (rng.permutation(N) + 200000, IDENTIFIER),
        "Airport: Name": (rng.choice(["DALLAS", "DENVER", "BOSTON"], N), IDENTIFIER),
        "Aircraft: Type": (rng.choice(["Airplane", "Helicopter"], N), CATEGORY),
        "Effect": (rng.choice(["None", "Precautionary Landing", "Engine Shut Down"], N), CATEGORY),
        "Cost: Repair": (holes(rng, [f"{v:,}" for v in rng.integers(1000, 900000, N)], "-"), QUASI),
        "Feet above ground": (holes(rng, [f"{v:,}" for v in rng.integers(0, 9000, N)], "NULL"), QUASI),
        "Wildlife: Size": (rng.choice(["Small", "Medium", "Large"], N), CATEGORY),
        "Remarks": ([f"remark {i} {rng.integers(9)}" for i in range(N)], IDENTIFIER),
    }


TABLES = {
    f.__name__: (f, delimiter)
    for f, delimiter in [
        (household_survey, ","), (hospital, ","), (business_accounts, ","), (credit, ","), (school, ","),
        (flights, ","), (census, ","), (tax, ";"), (energy, ","), (bird_strikes, ","),
    ]
}  # fmt: skip
MISSING = {
    "household_survey": ("NA",),
    "hospital": (".",),
    "credit": ("?",),
    "school": ("N/A",),
    "flights": ("NA",),
    "bird_strikes": ("NULL", "-"),
}
READING = {"business_accounts": {"thousands": ",", "signs": ("%",)}, "bird_strikes": {"thousands": ","}}


def write(name, folder):
    made, delimiter = TABLES[name]
    columns = made(np.random.default_rng(3))
    frame = pl.DataFrame({column: [str(cell) for cell in cells] for column, (cells, _) in columns.items()})
    frame.write_csv(folder / "table.csv", separator=delimiter)
    return folder / "table.csv", {column: role for column, (_, role) in columns.items()}
