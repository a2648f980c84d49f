# SPDX-License-Identifier: Apache-2.0
"""Saves a figure; in a notebook, the last expression of a cell draws it."""
import locus

figure = locus.figure("slopes", locus.alibi(heads=8))
print(figure.title)
figure.save("slopes.txt")  # .html is a page that draws it offline, .vl.json the Vega-Lite chart
