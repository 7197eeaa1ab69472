// Enums whose members Python reads by name: members and names are written once, as a list that calls X(MEMBER, "name").
#pragma once

#include <string>
#include <vector>

namespace lmarvel {

using Names = std::vector<std::string>;  // by number

#define LMARVEL_MEMBER(member, name) member,
#define LMARVEL_NAME(member, name) name,
// Define a function that returns the names of a list.
#define LMARVEL_NAMES(function, LIST) \
    inline Names function() { return {LIST(LMARVEL_NAME)}; }

}  // namespace lmarvel
