#include "runtime/data/sources/glyphs.hpp"

#include <array>

namespace dtnn::runtime {
namespace {

// A straight line is a curve with its controls on it, at the thirds.
#define LINE(x0, y0, x1, y1)                                  \
    {(2 * (x0) + (x1)) / 3.f, (2 * (y0) + (y1)) / 3.f},       \
        {((x0) + 2 * (x1)) / 3.f, ((y0) + 2 * (y1)) / 3.f}, { \
        (x1), (y1)                                            \
    }

constexpr Point kZero[] = {{.50f, .02f}, {.22f, .02f}, {.10f, .25f}, {.10f, .50f}, {.10f, .75f},
                           {.22f, .98f}, {.50f, .98f}, {.78f, .98f}, {.90f, .75f}, {.90f, .50f},
                           {.90f, .25f}, {.78f, .02f}, {.50f, .02f}};
constexpr Point kNarrowZero[] = {{.62f, .03f}, {.40f, -.02f}, {.22f, .28f}, {.22f, .58f},
                                 {.22f, .84f}, {.32f, .98f},  {.46f, .98f}, {.68f, .98f},
                                 {.80f, .70f}, {.80f, .42f},  {.80f, .16f}, {.74f, .05f},
                                 {.62f, .03f}};

constexpr Point kOneStem[] = {{.52f, .02f}, LINE(.52f, .02f, .52f, .98f)};
constexpr Point kOneFlag[] = {
    {.30f, .20f}, {.40f, .16f}, {.48f, .10f}, {.54f, .02f}, LINE(.54f, .02f, .54f, .98f)};
constexpr Point kOneFoot[] = {{.30f, .98f}, LINE(.30f, .98f, .78f, .98f)};

constexpr Point kTwo[] = {{.14f, .26f},
                          {.16f, .08f},
                          {.34f, .02f},
                          {.50f, .02f},
                          {.74f, .02f},
                          {.86f, .16f},
                          {.86f, .30f},
                          {.86f, .52f},
                          {.44f, .72f},
                          {.12f, .97f},
                          LINE(.12f, .97f, .90f, .97f)};
constexpr Point kLoopedTwo[] = {{.18f, .22f}, {.24f, .06f}, {.40f, .02f}, {.52f, .02f},
                                {.72f, .02f}, {.82f, .16f}, {.80f, .34f}, {.76f, .62f},
                                {.46f, .92f}, {.26f, .96f}, {.06f, .98f}, {.06f, .76f},
                                {.26f, .76f}, {.48f, .76f}, {.60f, .98f}, {.90f, .92f}};

constexpr Point kThree[] = {{.16f, .14f}, {.26f, .04f}, {.38f, .02f}, {.50f, .02f}, {.72f, .02f},
                            {.82f, .12f}, {.82f, .25f}, {.82f, .40f}, {.66f, .48f}, {.40f, .48f},
                            {.70f, .48f}, {.88f, .58f}, {.88f, .73f}, {.88f, .90f}, {.70f, .98f},
                            {.48f, .98f}, {.32f, .98f}, {.20f, .94f}, {.12f, .84f}};
constexpr Point kFlatThree[] = {{.16f, .04f},
                                LINE(.16f, .04f, .82f, .04f),
                                LINE(.82f, .04f, .46f, .40f),
                                {.74f, .40f},
                                {.88f, .54f},
                                {.88f, .71f},
                                {.88f, .90f},
                                {.68f, .98f},
                                {.48f, .98f},
                                {.32f, .98f},
                                {.20f, .93f},
                                {.12f, .84f}};

constexpr Point kFourBend[] = {
    {.62f, .02f}, LINE(.62f, .02f, .10f, .66f), LINE(.10f, .66f, .92f, .66f)};
constexpr Point kFourStem[] = {{.66f, .02f}, LINE(.66f, .02f, .66f, .98f)};
constexpr Point kOpenFourBend[] = {
    {.18f, .04f}, {.17f, .20f}, {.14f, .36f}, {.14f, .50f}, LINE(.14f, .50f, .84f, .50f)};
constexpr Point kOpenFourStem[] = {{.80f, .04f}, LINE(.80f, .04f, .74f, .98f)};

constexpr Point kFiveHook[] = {{.24f, .04f}, LINE(.24f, .04f, .18f, .45f),
                               {.30f, .38f}, {.40f, .36f},
                               {.50f, .36f}, {.74f, .36f},
                               {.88f, .50f}, {.88f, .67f},
                               {.88f, .86f}, {.72f, .98f},
                               {.48f, .98f}, {.32f, .98f},
                               {.20f, .94f}, {.12f, .84f}};
constexpr Point kFiveTop[] = {{.24f, .04f}, LINE(.24f, .04f, .82f, .04f)};

constexpr Point kSix[] = {{.74f, .06f}, {.44f, .10f}, {.14f, .40f}, {.14f, .68f},
                          {.14f, .88f}, {.30f, .98f}, {.50f, .98f}, {.72f, .98f},
                          {.86f, .86f}, {.86f, .70f}, {.86f, .54f}, {.72f, .44f},
                          {.52f, .44f}, {.34f, .44f}, {.18f, .54f}, {.14f, .68f}};
constexpr Point kStraightSix[] = {{.60f, .02f}, {.42f, .18f}, {.18f, .46f}, {.18f, .72f},
                                  {.18f, .90f}, {.34f, .98f}, {.50f, .98f}, {.68f, .98f},
                                  {.80f, .90f}, {.80f, .76f}, {.80f, .62f}, {.68f, .54f},
                                  {.50f, .54f}, {.36f, .54f}, {.24f, .60f}, {.18f, .72f}};

constexpr Point kSeven[] = {
    {.12f, .04f}, LINE(.12f, .04f, .88f, .04f), {.70f, .28f}, {.46f, .60f}, {.38f, .98f}};
constexpr Point kSevenBar[] = {{.34f, .50f}, LINE(.34f, .50f, .80f, .50f)};

constexpr Point kEight[] = {{.50f, .47f}, {.26f, .44f}, {.16f, .36f}, {.16f, .24f}, {.16f, .10f},
                            {.32f, .02f}, {.50f, .02f}, {.68f, .02f}, {.84f, .10f}, {.84f, .24f},
                            {.84f, .36f}, {.74f, .44f}, {.50f, .47f}, {.24f, .50f}, {.10f, .60f},
                            {.10f, .73f}, {.10f, .90f}, {.28f, .98f}, {.50f, .98f}, {.72f, .98f},
                            {.90f, .90f}, {.90f, .73f}, {.90f, .60f}, {.76f, .50f}, {.50f, .47f}};
constexpr Point kCrossedEight[] = {{.80f, .14f}, {.70f, .02f}, {.56f, .02f}, {.46f, .02f},
                                   {.28f, .02f}, {.18f, .14f}, {.20f, .24f}, {.26f, .48f},
                                   {.82f, .50f}, {.82f, .78f}, {.82f, .92f}, {.66f, .98f},
                                   {.50f, .98f}, {.32f, .98f}, {.18f, .90f}, {.18f, .76f},
                                   {.18f, .50f}, {.70f, .46f}, {.80f, .14f}};

constexpr Point kNine[] = {{.84f, .34f}, {.80f, .48f}, {.66f, .56f}, {.48f, .56f},
                           {.28f, .56f}, {.14f, .46f}, {.14f, .30f}, {.14f, .14f},
                           {.28f, .02f}, {.50f, .02f}, {.72f, .02f}, {.86f, .14f},
                           {.86f, .34f}, {.86f, .64f}, {.60f, .90f}, {.30f, .98f}};
constexpr Point kStraightNine[] = {{.78f, .26f}, {.74f, .42f},
                                   {.62f, .50f}, {.48f, .50f},
                                   {.32f, .50f}, {.20f, .42f},
                                   {.20f, .27f}, {.20f, .12f},
                                   {.34f, .02f}, {.50f, .02f},
                                   {.68f, .02f}, {.78f, .12f},
                                   {.78f, .26f}, LINE(.78f, .26f, .72f, .98f)};
#undef LINE

constexpr Stroke kZeroA[] = {{kZero}}, kZeroB[] = {{kNarrowZero}};
constexpr Stroke kOneA[] = {{kOneStem}}, kOneB[] = {{kOneFlag}}, kOneC[] = {{kOneFlag}, {kOneFoot}};
constexpr Stroke kTwoA[] = {{kTwo}}, kTwoB[] = {{kLoopedTwo}};
constexpr Stroke kThreeA[] = {{kThree}}, kThreeB[] = {{kFlatThree}};
constexpr Stroke kFourA[] = {{kFourBend}, {kFourStem}},
                 kFourB[] = {{kOpenFourBend}, {kOpenFourStem}};
constexpr Stroke kFiveA[] = {{kFiveHook}, {kFiveTop}};
constexpr Stroke kSixA[] = {{kSix}}, kSixB[] = {{kStraightSix}};
constexpr Stroke kSevenA[] = {{kSeven}}, kSevenB[] = {{kSeven}, {kSevenBar}};
constexpr Stroke kEightA[] = {{kEight}}, kEightB[] = {{kCrossedEight}};
constexpr Stroke kNineA[] = {{kNine}}, kNineB[] = {{kStraightNine}};

constexpr Glyph kZeros[] = {{kZeroA}, {kZeroB}};
constexpr Glyph kOnes[] = {{kOneA}, {kOneB}, {kOneC}};
constexpr Glyph kTwos[] = {{kTwoA}, {kTwoB}};
constexpr Glyph kThrees[] = {{kThreeA}, {kThreeB}};
constexpr Glyph kFours[] = {{kFourA}, {kFourB}};
constexpr Glyph kFives[] = {{kFiveA}};
constexpr Glyph kSixes[] = {{kSixA}, {kSixB}};
constexpr Glyph kSevens[] = {{kSevenA}, {kSevenB}};
constexpr Glyph kEights[] = {{kEightA}, {kEightB}};
constexpr Glyph kNines[] = {{kNineA}, {kNineB}};

constexpr std::array<std::span<const Glyph>, 10> kDigits = {
    kZeros, kOnes, kTwos, kThrees, kFours, kFives, kSixes, kSevens, kEights, kNines};

// Every stroke is a start and whole curves, and no glyph has too many points.
constexpr bool well_formed() {
    for (const auto& shapes : kDigits) {
        if (shapes.empty()) return false;
        for (const Glyph& glyph : shapes) {
            std::size_t points = 0;
            for (const Stroke& stroke : glyph.strokes) {
                if (stroke.points.size() < 4 || stroke.points.size() % 3 != 1) return false;
                points += stroke.points.size();
            }
            if (points > kMostPoints) return false;
        }
    }
    return true;
}
static_assert(well_formed());

}  // namespace

std::span<const Glyph> shapes_of(int digit) {
    return kDigits[std::size_t(digit)];
}

}  // namespace dtnn::runtime
