SHADES = " .:-=+*#%@"


def picture(rows):
    lines = []
    for row in rows:
        shades = [min(int((value + 1) / 2 * 10), 9) for value in row]
        lines.append("".join(SHADES[shade] for shade in shades))
    return "\n".join(lines)
