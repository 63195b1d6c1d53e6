"""Edit rules: what must hold in every record, before and after protection, in its own notation or another.

::

    tokens, grammar                   expressions: text to tree, with errors that point at the place
    xpath, translation, schematron    Schematron: XPath parsed, and translated into the same tree
    expression, simplify, rule        the tree, its one form, and a rule with its name and place
    formulas, r_validate, sql_checks  rules of the R package validate, and CHECK constraints of SQL
    writing, schematron_writing,      the tree back to text in any of these
    languages
    sources                           rules from settings and files
    evaluate, orders, comparing       whether conditions hold, on columns
    engine                            whether tests hold, by Saxon
    classify, algebra, conflicts      what a rule asks for, and whether rules contradict each other
    constants, sets                   names that no category has, and sets of columns that share rules
    localising, repairs               which cells to change where a table breaks rules
    keeping and what it imports       released values that keep rules, soft ones (preferring) where they are cheap
    antecedents, exchanging           groups in which rules cost less to keep
    keeping_totals, totals            released values with the total of the original

Only the names in ``shoal.__all__`` are public.
"""
