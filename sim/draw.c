/* SPDX-License-Identifier: ISC */
#include "draw.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static uint64_t
rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

/* splitmix64 (Steele, Lea and Flood, 2014): the next of a counter's numbers. */
static uint64_t
split(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void
draw_seed(struct draw *d, uint64_t seed)
{
	size_t i;

	for (i = 0; i < 4; i++)
		d->s[i] = split(&seed);
}

/* From where the first one stands, and it stays there. */
void
draw_fork(struct draw *from, const char *whose, struct draw *to)
{
	uint64_t seed = FNV_BASIS;
	size_t i;

	for (; *whose != '\0'; whose++)
		seed = (seed ^ (unsigned char)*whose) * FNV_PRIME;
	for (i = 0; i < 4; i++) {
		seed ^= from->s[i];
		seed = split(&seed);
	}
	draw_seed(to, seed);
}

/* xoshiro256** 1.0 (Blackman and Vigna, 2018). */
uint64_t
draw_bits(struct draw *d)
{
	uint64_t *s = d->s;
	uint64_t bits = rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return bits;
}

double
draw_unit(struct draw *d)
{
	return (double)(draw_bits(d) >> 11) * 0x1p-53;
}

/* What is below 2^64 modulo n is thrown away: the rest divides evenly. */
uint64_t
draw_below(struct draw *d, uint64_t n)
{
	uint64_t least = -n % n, bits;

	do
		bits = draw_bits(d);
	while (bits < least);
	return bits % n;
}

/* --- distributions -------------------------------------------------------- */

/*
 * Of mean 1, by comparisons alone (von Neumann, 1951): the same to the last bit
 * wherever it is drawn, which a logarithm of the machine's is not.
 */
static double
draw_exp(struct draw *d)
{
	double first, last, next;
	unsigned whole, falls;

	for (whole = 0;; whole++) {
		first = last = draw_unit(d);
		for (falls = 1; (next = draw_unit(d)) < last; falls++)
			last = next;
		if (falls % 2 == 1)
			return whole + first;
	}
}

static bool
is_whole(double x)
{
	return x > -0x1p53 && x < 0x1p53 && (double)(int64_t)x == x;
}

/* Whole ends have whole numbers between them, and both ends may come. */
static double
draw_uniform(struct draw *d, double a, double b)
{
	if (!(b > a))
		return a;
	if (is_whole(a) && is_whole(b))
		return a + (double)draw_below(d, (uint64_t)(b - a) + 1);
	return a + (b - a) * draw_unit(d);
}

double
draw_dist(struct draw *d, const struct plan_dist *dist)
{
	double x;

	switch (dist->kind) {
	case PLAN_CONST:
		return dist->a;
	case PLAN_UNIFORM:
		return draw_uniform(d, dist->a, dist->b);
	case PLAN_EXP:
		x = dist->a * draw_exp(d);
		if (x < dist->min)
			x = dist->min;
		return dist->max > 0 && x > dist->max ? dist->max : x;
	case PLAN_CHOICE:
		return dist->n == 0 ? 0 : dist->of[draw_below(d, dist->n)];
	}
	abort();
}

/* --- ranks ---------------------------------------------------------------- */

void
draw_zipf_make(struct draw_zipf *z, size_t n, double exponent)
{
	double sum = 0;
	size_t i;

	z->n = n;
	z->sums = calloc(n > 0 ? n : 1, sizeof *z->sums);
	arena_must_have(z->sums != NULL);
	for (i = 0; i < n; i++) {
		sum += pow((double)(i + 1), -exponent);
		z->sums[i] = sum;
	}
}

/* The first rank whose sum is above a part of all of them. */
size_t
draw_zipf(struct draw *d, const struct draw_zipf *z)
{
	size_t from = 0, to = z->n, middle;
	double at;

	if (z->n == 0)
		return 0;
	at = draw_unit(d) * z->sums[z->n - 1];
	while (from < to) {
		middle = from + (to - from) / 2;
		if (z->sums[middle] > at)
			to = middle;
		else
			from = middle + 1;
	}
	return from < z->n ? from : z->n - 1;
}

void
draw_zipf_free(struct draw_zipf *z)
{
	free(z->sums);
	*z = (struct draw_zipf){ 0 };
}
