SHADES = " .:-=+*#%@"


def picture(rows):
    raise NotImplementedError
