"""Edit rules: what must hold in every record, before and after protection, in either of two notations.

::

    tokens, grammar                   expressions: text to tree, with errors that point at the place
    xpath, translation, schematron    Schematron: XPath parsed, and translated into the same tree
    expression, simplify, rule        the tree, its one form, and a rule with its name and place
    writing, schematron_writing       the tree back to text in either notation
    sources                           rules from settings and files
    evaluate                          whether conditions hold, on columns
    engine                            whether tests hold, by Saxon
    classify, algebra, conflicts      what a rule asks for, and whether rules contradict each other
    keeping and what it imports       released values that keep rules

Only the names in ``shoal.__all__`` are public.
"""
