// SPDX-License-Identifier: Apache-2.0
// Student's t, for bands and tests.
#pragma once

namespace joulecast::series {

// Regularised: I_x(a, b). Requires: a, b > 0 and 0 <= x <= 1.
double incomplete_beta(double a, double b, double x);

// P(T <= t). Requires: dof > 0, which need not be whole.
double t_cumulative(double t, double dof);

// The t below which lies the share p. Requires: 0 < p < 1, dof > 0.
double t_quantile(double p, double dof);

// How likely a |T| of at least |t| is.
double t_two_sided(double t, double dof);

}  // namespace joulecast::series
