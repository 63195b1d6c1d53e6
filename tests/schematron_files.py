"""Schematron files: the figures of the paper, and small ones around a body."""

from __future__ import annotations

import pytest

ISO, OLD = "http://purl.oclc.org/dsdl/schematron", "http://www.ascc.net/xml/schematron"
FIGURES = """
<pattern name="EC-LC: V9+V10 = V14">
  <rule context="Record">
    <assert test="1.0 * number(V9)
      + 1.0 * number(V10)
      = number(V14)">others <value-of select="V9"/> and own <value-of select="V10"/> are not the family's
      <value-of select="V14"/></assert>
  </rule>
</pattern>
<pattern name="EC-NLC: V5*V15 = V16">
  <rule context="Record">
    <assert test="number(V5)
      * number(V15)
      = number(V16)">product of <value-of select="V5"/></assert>
  </rule>
</pattern>
<pattern name="EC-PV: V3 in [0, 7500]">
  <rule context="Record">
    <assert test="0 &lt;= number(V3) and
      number(V3) &lt;= 7500">out of bounds</assert>
  </rule>
</pattern>
<pattern name="EC-LC: if V8 &lt; 1115 then
  V13 &lt;= V12">
  <rule context="Record">
    <assert test="not(number(V8) &lt; 1115) or
      (number(V13) &lt;= number(V12))">wages above taxable income</assert>
  </rule>
</pattern>
<pattern name="Value-domain restriction">
  <rule context="Record">
    <let name="original"
        value="document('microdata.xml')"/>
    <assert test="exists(index-of
                        ($ original //Record/V1, V1))">not in the domain: <value-of select="V1"/></assert>
  </rule>
</pattern>
"""


def write_schematron(folder, body, namespace=ISO, head=""):
    """Write a file of rules, and return its path; a test is skipped where such files cannot be read."""
    pytest.importorskip("elementpath")
    path = folder / "rules.sch"
    attribute = f' xmlns="{namespace}"' if namespace else ""
    path.write_text(f"{head}<schema{attribute}>{body}</schema>", encoding="utf-8")
    return path


def pattern_of(tests, context="Record"):
    """Return a pattern of one rule with the given assertions."""
    return f'<pattern><rule context="{context}">{tests}</rule></pattern>'
