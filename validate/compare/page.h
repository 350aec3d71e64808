// A comparison as a page for a browser.
#pragma once
#include <string>

#include "validate/compare/compare_models.h"

namespace svengine::validate {

/// One HTML file that needs nothing else: every compared value in a table that a click on a title sorts, with histograms of its
/// errors. Texts from the model are escaped.
std::string page_of(const CompareReport& report, const std::string& title);

}  // namespace svengine::validate
