#include "locus_exercise.h"

#include <algorithm>

const std::string shades = " .:-=+*#%@";

std::string picture(const Array& rows) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"picture", learn::function(picture)}}); }
