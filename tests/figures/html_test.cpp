// SPDX-License-Identifier: Apache-2.0
// Text is always escaped.
#include "figures/report/html.h"

#include <gtest/gtest.h>

#include "figures/numbers.h"

namespace locus::figures {
namespace {

TEST(Html, EscapesMarkup) {
  EXPECT_EQ(escaped("a<b>&\"c\"'d'"), "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
  EXPECT_EQ(Html("</script>").markup(), "&lt;/script&gt;");
  EXPECT_EQ(Html(std::string("&amp;")).markup(), "&amp;amp;");
}

TEST(Html, KeepsUtf8AndReplacesWhatIsNot) {
  const std::string good = "d\xc3\xa9j\xc3\xa0 \xe2\x82\xac \xf0\x9f\x98\x80\n\t";
  EXPECT_EQ(escaped(good), good);
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(escaped("\xff"), replaced);
  EXPECT_EQ(escaped("\xc3"), replaced);                                // truncated
  EXPECT_EQ(escaped("\xc0\xbc"), replaced + replaced);                 // overlong form of "<"
  EXPECT_EQ(escaped("\xed\xa0\x80"), replaced + replaced + replaced);  // half of a surrogate pair
  EXPECT_EQ(escaped("\xe2\x82<"), replaced + replaced + "&lt;");       // must not consume the next character
  EXPECT_EQ(escaped(std::string_view("\0\x1b\x7f", 3)), replaced + replaced + replaced);
}

TEST(Html, ElementsNestAndLinksStayOnThePage) {
  EXPECT_EQ(element("p", strong("a & b") + Html(" c"), "class=\"x\"").markup(),
            "<p class=\"x\"><strong>a &amp; b</strong> c</p>");
  EXPECT_EQ(link_to("results", "Results").markup(), "<a href=\"#results\">Results</a>");
}

TEST(Html, BackticksMarkCode) {
  EXPECT_EQ(prose("say `a<b` or `c`").markup(), "say <code>a&lt;b</code> or <code>c</code>");
  EXPECT_EQ(prose("it`s").markup(), "it`s");
  EXPECT_EQ(sentence("a word"), "A word.");
  EXPECT_EQ(sentence("Done."), "Done.");
  EXPECT_EQ(sentence(""), "");
}

TEST(Html, IdentifiersHaveLowercaseLettersDigitsAndHyphens) {
  EXPECT_EQ(identifier("rope+yarn+tuned"), "rope-yarn-tuned");
  EXPECT_EQ(identifier("  The Answer: 42! "), "the-answer-42");
  EXPECT_EQ(identifier("\xc3\xa9\xc3\xa9"), "x");
}

TEST(Numbers, AreWrittenShort) {
  EXPECT_EQ(significant(0.012345), "0.0123");
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-1000), "-1,000");
  EXPECT_EQ(grouped(-100), "-100");
  EXPECT_EQ(duration(3.42), "3.4 s");
  EXPECT_EQ(duration(725), "12 min 5 s");
  EXPECT_EQ(duration(7380), "2 h 3 min");
  EXPECT_EQ(bytes(41'300'000), "41.3 MB");
  EXPECT_EQ(bytes(999), "999 B");
}

}  // namespace
}  // namespace locus::figures
