"""What was asked: the Plan, the roles and kinds of columns, and the settings of categories, hierarchies and rules."""
