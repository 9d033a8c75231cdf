#include "CSluiceFuzz.h"
