/* SPDX-License-Identifier: ISC */
#include "load.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS_MAX 20000u

static const char usage[] =
    "usage: load -s SOCKET [options]\n"
    "  -s SOCKET     unix:PATH or tcp:HOST:PORT\n"
    "  -H            speak HTTP/1.1; else FastCGI\n"
    "  -n CLIENTS    each with one request at a time (16)\n"
    "  -t MS         for so long (1000)\n"
    "  -N COUNT      until so many are answered; with -t: or for so long\n"
    "  -k            keep the connections; else one for each request\n"
    "  -K KEYS       none, fresh, one, set:N (in turn), zipf:N, or file:PATH\n"
    "                (its lines in turn, all of one length) (none)\n"
    "  -P PREFIX     of each key (load)\n"
    "  -b BYTES      of the request's body (16)\n"
    "  -m METHOD     (POST)\n"
    "  -u PATH       SCRIPT_NAME, or the path of the URL (/order)\n"
    "  -q QUERY      without the question mark\n"
    "  -p PROGRAM    SCRIPT_FILENAME\n"
    "  -S STATUS     that every answer must have\n"
    "  -w WORD       Idempotency-Status that every answer must have; '': none\n"
    "  -r SEED       of zipf (1)\n"
    "  -o FILE       gets the body of each right answer, a line each\n"
    "All answers to one key must have the same body.  Prints one JSON object;\n"
    "exits with 1 after a wrong answer.\n";

static int
wrong_use(void)
{
	fputs(usage, stderr);
	return 2;
}

static double
quantile(const struct load_figures *f, double share)
{
	size_t at = (size_t)(share * (double)f->took_len);

	if (f->took_len == 0)
		return 0;
	return f->took[at < f->took_len ? at : f->took_len - 1] / 10.0;
}

static double
mean(const struct load_figures *f)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < f->took_len; i++)
		sum += f->took[i];
	return f->took_len > 0 ? sum / 10 / (double)f->took_len : 0;
}

static void
print(const struct load_figures *f)
{
	printf("{\"requests\":%llu,\"seconds\":%.3f,\"rate\":%.1f,"
	    "\"mean_us\":%.1f,\"min_us\":%.1f,\"median_us\":%.1f,"
	    "\"p90_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,"
	    "\"connections\":%llu,\"wrong\":%llu,\"broken\":%llu,"
	    "\"errors\":%llu}\n",
	    (unsigned long long)f->requests, f->seconds,
	    f->seconds > 0 ? (double)f->requests / f->seconds : 0,
	    mean(f), quantile(f, 0), quantile(f, 0.5), quantile(f, 0.9),
	    quantile(f, 0.99), quantile(f, 1),
	    (unsigned long long)f->connections, (unsigned long long)f->wrong,
	    (unsigned long long)f->broken,
	    (unsigned long long)(f->wrong + f->broken));
}

static int
read_options(struct load_options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv,
	    "s:Hn:t:N:kK:P:b:m:u:q:p:S:w:r:o:")) != -1)
		switch (c) {
		case 's': o->at = optarg; break;
		case 'H': o->http = true; break;
		case 'n':
			o->clients = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 't': o->run_ms = strtol(optarg, NULL, 10); break;
		case 'N': o->count = strtoull(optarg, NULL, 10); break;
		case 'k': o->keep = true; break;
		case 'K': o->keys = optarg; break;
		case 'P': o->prefix = optarg; break;
		case 'b': o->body_len = strtoul(optarg, NULL, 10); break;
		case 'm': o->method = optarg; break;
		case 'u': o->path = optarg; break;
		case 'q': o->query = optarg; break;
		case 'p': o->program = optarg; break;
		case 'S': o->status = (int)strtol(optarg, NULL, 10); break;
		case 'w': o->says = optarg; break;
		case 'r': o->seed = strtoull(optarg, NULL, 10); break;
		case 'o': o->save = optarg; break;
		default: return -1;
		}
	if (o->run_ms == -1)
		o->run_ms = o->count > 0 ? 0 : 1000;
	return o->at != NULL && o->clients >= 1 && o->clients <= CLIENTS_MAX &&
	    o->run_ms >= 0 && (o->run_ms > 0 || o->count > 0) &&
	    optind == argc ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct load_options o = {
		.clients = 16, .run_ms = -1, .keys = "none",
		.prefix = "load", .body_len = 16, .method = "POST",
		.path = "/order", .seed = 1,
		.type = "application/x-www-form-urlencoded"
	};
	struct load_figures f;

	if (read_options(&o, argc, argv) == -1)
		return wrong_use();
	if (load_run(&o, &f) == -1) {
		free(f.took);
		return 111;
	}
	print(&f);
	if (f.wrong + f.broken > 0)
		fprintf(stderr, "load: %llu wrong answers and %llu broken ones;"
		    " the first: %s\n", (unsigned long long)f.wrong,
		    (unsigned long long)f.broken, f.first_wrong);
	free(f.took);
	return f.wrong + f.broken > 0 || f.requests == 0;
}
