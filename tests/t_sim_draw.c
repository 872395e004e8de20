/* SPDX-License-Identifier: ISC */
#include "draw.h"

#include "tap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 100000

/* What splitmix64 gives from 1234567. */
static const uint64_t seeded[4] = {
	UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
	UINT64_C(9817491932198370423), UINT64_C(4593380528125082431)
};

/* What xoshiro256** gives from 1, 2, 3, 4. */
static const uint64_t known[10] = {
	UINT64_C(11520), UINT64_C(0), UINT64_C(1509978240),
	UINT64_C(1215971899390074240), UINT64_C(1216172134540287360),
	UINT64_C(607988272756665600), UINT64_C(16172922978634559625),
	UINT64_C(8476171486693032832), UINT64_C(10595114339597558777),
	UINT64_C(2904607092377533576)
};

static void
check_known(void)
{
	struct draw d = { { 1, 2, 3, 4 } };
	size_t i, right = 0;

	for (i = 0; i < 10; i++)
		right += draw_bits(&d) == known[i];
	is_int((long long)right, 10, "ten numbers are xoshiro256**'s");
	draw_seed(&d, 1234567);
	ok(memcmp(d.s, seeded, sizeof seeded) == 0,
	    "a seed becomes splitmix64's next four numbers");
}

static void
check_forks(void)
{
	struct draw root, again, one, other, same;

	draw_seed(&root, 7);
	again = root;
	draw_fork(&root, "c1", &one);
	draw_fork(&root, "c2", &other);
	draw_fork(&root, "c1", &same);
	ok(memcmp(&root, &again, sizeof root) == 0,
	    "a fork takes nothing of the stream that it is of");
	ok(memcmp(&one, &same, sizeof one) == 0,
	    "a fork of the same name is the same");
	ok(memcmp(&one, &other, sizeof one) != 0 &&
	    memcmp(&one, &root, sizeof one) != 0,
	    "one of another name is another");
	draw_seed(&root, 8);
	draw_fork(&root, "c1", &same);
	ok(memcmp(&one, &same, sizeof one) != 0,
	    "and so is one of another seed");
}

static void
check_below(void)
{
	struct draw d;
	const uint64_t half = UINT64_C(1) << 63;
	unsigned of[7] = { 0 };
	bool even = true, inside = true;
	size_t i;

	draw_seed(&d, 1);
	for (i = 0; i < 7 * 10000; i++)
		of[draw_below(&d, 7)]++;
	for (i = 0; i < 7; i++)
		even = even && of[i] > 9500 && of[i] < 10500;
	ok(even, "each number below 7 comes about as often");
	is_int((long long)draw_below(&d, 1), 0, "below 1 there is 0 alone");
	/* A half of all numbers is thrown away here. */
	for (i = 0; i < 100; i++)
		inside = inside &&
		    draw_below(&d, half + 1) <= half;
	ok(inside, "a number below a large one is below it");
	for (i = 0; i < DRAWS; i++) {
		double u = draw_unit(&d);

		inside = inside && u >= 0 && u < 1;
	}
	ok(inside, "a part of one is at least 0 and below 1");
}

static const double three[] = { 100, 700, 1500 };

static const struct {
	const char *what;
	struct plan_dist dist;
	double mean, least, most;	/* both must be come to: within 2 % */
} rows[] = {
	{ "const(80)", { .kind = PLAN_CONST, .a = 80 }, 80, 80, 80 },
	{ "uniform(100, 600)", { .kind = PLAN_UNIFORM, .a = 100, .b = 600 },
	  350, 100, 600 },
	{ "uniform(0, 1)", { .kind = PLAN_UNIFORM, .a = 0, .b = 1 },
	  0.5, 0, 1 },
	{ "uniform(0.5, 1.5)", { .kind = PLAN_UNIFORM, .a = 0.5, .b = 1.5 },
	  1, 0.5, 1.5 },
	{ "uniform(5, 5)", { .kind = PLAN_UNIFORM, .a = 5, .b = 5 }, 5, 5, 5 },
	{ "exp(300), 100 to 2000",
	  { .kind = PLAN_EXP, .a = 300, .min = 100, .max = 2000 },
	  314.6, 100, 2000 },	/* 100 + 300 (e^-1/3 - e^-20/3) */
	{ "choice{100, 700, 1500}",
	  { .kind = PLAN_CHOICE, .of = three, .n = 3 }, 2300. / 3, 100, 1500 },
	{ "choice{}", { .kind = PLAN_CHOICE }, 0, 0, 0 }
};

static bool
is_near(double x, double want)
{
	return fabs(x - want) <= 0.02 * want + 1e-9;
}

static void
check_dists(void)
{
	struct draw d;
	size_t i, n;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		double sum = 0, least = INFINITY, most = -INFINITY, x;

		draw_seed(&d, i);
		for (n = 0; n < DRAWS; n++) {
			x = draw_dist(&d, &rows[i].dist);
			sum += x;
			least = fmin(least, x);
			most = fmax(most, x);
		}
		if (!ok(is_near(sum / DRAWS, rows[i].mean) &&
		    least >= rows[i].least && is_near(least, rows[i].least) &&
		    most <= rows[i].most && is_near(most, rows[i].most),
		    "%s keeps its mean and its ends", rows[i].what))
			note("mean %g, %g to %g", sum / DRAWS, least, most);
	}
}

/* Not only the mean: one in e is above it, and one in e^3 above three times. */
static void
check_exp(void)
{
	const struct plan_dist exp_1 = { .kind = PLAN_EXP, .a = 1 };
	unsigned above_1 = 0, above_3 = 0;
	struct draw d;
	size_t i;

	draw_seed(&d, 5);
	for (i = 0; i < DRAWS; i++) {
		double x = draw_dist(&d, &exp_1);

		above_1 += x > 1;
		above_3 += x > 3;
	}
	ok(fabs(above_1 / (double)DRAWS - 0.3679) < 0.005 &&
	    fabs(above_3 / (double)DRAWS - 0.0498) < 0.003,
	    "exp has the tail of an exponential distribution");
}

static void
check_zipf(void)
{
	unsigned of[4] = { 0 };
	struct draw_zipf z;
	struct draw d;
	size_t i;

	draw_seed(&d, 3);
	draw_zipf_make(&z, 4, 1);
	for (i = 0; i < 25 * 1000; i++)	/* 1 + 1/2 + 1/3 + 1/4 = 25/12 */
		of[draw_zipf(&d, &z)]++;
	draw_zipf_free(&z);
	ok(abs((int)of[0] - 12000) < 300 && abs((int)of[1] - 6000) < 300 &&
	    abs((int)of[2] - 4000) < 300 && abs((int)of[3] - 3000) < 300,
	    "ranks come as often as 1, 1/2, 1/3 and 1/4");
	draw_zipf_make(&z, 2, 0);
	of[0] = of[1] = 0;
	for (i = 0; i < 10000; i++)
		of[draw_zipf(&d, &z)]++;
	draw_zipf_free(&z);
	ok(abs((int)of[0] - 5000) < 200, "with an exponent of 0 all are alike");
	draw_zipf_make(&z, 0, 1);
	is_int((long long)draw_zipf(&d, &z), 0,
	    "of no ranks the first is drawn");
	draw_zipf_free(&z);
	ok(z.sums == NULL && z.n == 0, "a freed table is an empty one");
}

int
main(void)
{
	check_known();
	check_forks();
	check_below();
	check_dists();
	check_exp();
	check_zipf();
	return done();
}
