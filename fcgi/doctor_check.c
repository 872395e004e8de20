/* SPDX-License-Identifier: ISC */
#include "doctor.h"

#include <assert.h>

/*
 * What each finding means to the administrator: why it matters, which of the
 * promises (doc/design.md, 2) it costs, and what to do.  How bad it is depends
 * on the facts, and is the judge's to say.
 */
#define NO_PROMISE "no promise"

static const struct doctor_meaning meanings[DOCTOR_CHECKS] = {
	[DOCTOR_REACH] = { "redis.reach",
	    "no key can be claimed there, so requests with keys get 503, or "
	    "what on_outage says", NO_PROMISE " (unless on_outage gives it up)",
	    "start it, or correct its url, user or password" },
	[DOCTOR_REACH_CACHE] = { "redis.reach-cache",
	    "every answer comes from the ledger instead", NO_PROMISE ", speed",
	    "start it, or correct its url, user or password" },
	[DOCTOR_REACH_REPLICA] = { "redis.reach-replica",
	    "nothing is known of it, and it may become the master",
	    NO_PROMISE " now", "look why it does not answer from this host" },
	[DOCTOR_VERSION] = { "redis.version",
	    "the script needs what there is since 6.0",
	    "all: no key can be claimed", "run Redis 6.0 or later" },
	[DOCTOR_ROLE] = { "redis.role",
	    "a replica takes no writes", "all: no key can be claimed",
	    "name the master, or name the sentinels and ask them for it" },
	[DOCTOR_POLICY] = { "redis.policy",
	    "a server that is full deletes records of keys that have run, and "
	    "says nothing", "once, kept",
	    "set maxmemory-policy to noeviction; it is for the whole server, "
	    "so give idem one of its own" },
	[DOCTOR_ROOM] = { "redis.room",
	    "a full server refuses new keys (503), and one without a limit is "
	    "killed when the machine is full", NO_PROMISE " until it is killed",
	    "set maxmemory with room for keep times the requests of a second; "
	    "or shorten keep" },
	[DOCTOR_EVICTED] = { "redis.evicted",
	    "records have been deleted since the server was started",
	    "once, kept (of those keys)",
	    "set maxmemory-policy to noeviction, and more maxmemory" },
	[DOCTOR_PERSIST] = { "redis.persist",
	    "what is not written to disk is forgotten when the server ends",
	    "once, kept", "set appendonly to yes" },
	[DOCTOR_FSYNC] = { "redis.fsync",
	    "how much a loss of power takes with it",
	    "once, kept (of the last seconds)",
	    "set appendfsync to everysec" },
	[DOCTOR_SAVED] = { "redis.saved",
	    "the server could not write to its disk, and may refuse all "
	    "writes (MISCONF)", "kept; new keys get 503",
	    "make room on its disk; its log has the reason" },
	[DOCTOR_DISK] = { "redis.disk",
	    "a server whose disk is full refuses writes, or ends",
	    "kept; new keys get 503",
	    "make room for twice its memory" },
	[DOCTOR_ALONE] = { "redis.alone",
	    "there is no other copy of what it knows", "kept (if it is lost)",
	    "add a replica, before tokens are issued: the first one that is "
	    "attached voids those that were not used" },
	[DOCTOR_REPLICAS_MIN] = { "redis.min-replicas",
	    "a master that is cut off goes on taking claims, which are gone "
	    "once a replica has been made the master",
	    "once, kept (at a failover)",
	    "set min-replicas-to-write to 1 and min-replicas-max-lag to 2" },
	[DOCTOR_REPLICAS_FEW] = { "redis.replicas-few",
	    "with fewer replicas than min-replicas-to-write it refuses all "
	    "writes", NO_PROMISE ", but new keys get 503",
	    "start the replicas, or lower min-replicas-to-write" },
	[DOCTOR_REPLICA_WRITABLE] = { "redis.replica-writable",
	    "who writes to it makes records that the master does not have",
	    "once", "set replica-read-only to yes" },
	[DOCTOR_LAG] = { "redis.lag",
	    "all that it does not have yet is gone if it is made the master",
	    "once, kept (at a failover)",
	    "look at the link between them" },
	[DOCTOR_BUSY] = { "redis.busy",
	    "while another script runs too long the server answers nobody, "
	    "and says so only after that time", NO_PROMISE ", speed",
	    "set busy-reply-threshold (lua-time-limit before 7.0) to 200" },
	[DOCTOR_STRANGERS] = { "redis.strangers",
	    "others' keys take idem's memory, and their FLUSHALL its records",
	    "once, kept (if they flush)",
	    "give idem a server of its own" },
	[DOCTOR_JUNK] = { "redis.junk",
	    "a key in the place of a record cannot be judged, so requests with "
	    "it get 409", NO_PROMISE,
	    "choose a prefix that nobody else uses" },
	[DOCTOR_ACL] = { "redis.acl",
	    "an operation that fails now also fails when it is needed, after "
	    "the program has run", "kept, settled",
	    "if it is denied, give its user the line of idemctl(1), ACL; else "
	    "see what else is found" },
	[DOCTOR_HIDDEN] = { "redis.hidden",
	    "it does not tell idem's user, which is as it should be; these "
	    "could not be looked at", NO_PROMISE,
	    "ask as a user who may: --redis-user NAME, with its password in "
	    "IDEM_REDIS_PASSWORD" },
	[DOCTOR_CLOCK] = { "redis.clock",
	    "leases are by its clock and the life of tokens by ours; when one "
	    "is set right, times jump",
	    "settled (later or earlier than it was said)",
	    "let both follow NTP" },
	[DOCTOR_PLAIN] = { "redis.plain",
	    "answers and keys cross the network readable, and can be changed "
	    "on their way", "guarded",
	    "use rediss:// (tls-port), or a tunnel" },
	[DOCTOR_OPEN] = { "redis.open",
	    "who reaches it reads all answers, and can delete records",
	    "once, guarded",
	    "give it a user with a password, by the line of idemctl(1), ACL" },
	[DOCTOR_SENTINEL] = { "sentinel.reach",
	    "fewer that can be asked who the master is", NO_PROMISE,
	    "start it, or take it out of the configuration" },
	[DOCTOR_SENTINELS_FEW] = { "sentinel.number",
	    "without three of them on three machines the loss of one can stop "
	    "a failover", NO_PROMISE ", but 503 until somebody acts",
	    "run three or more" },
	[DOCTOR_QUORUM] = { "sentinel.quorum",
	    "a quorum of one lets one of them that is cut off begin a "
	    "failover, and too few reachable ones none at all",
	    "once, kept (at a needless failover)",
	    "set it to more than half of them" },
	[DOCTOR_AGREE] = { "sentinel.agree",
	    "two masters take claims, and one's are thrown away",
	    "once, kept", "see to it that they agree before idemd serves" },
	[DOCTOR_SLOTS] = { "cluster.slots",
	    "keys of a slot without a master get 503",
	    NO_PROMISE, "redis-cli --cluster fix" },
	[DOCTOR_CLUSTER_BARE] = { "cluster.replicas",
	    "its part of the keys is gone with it", "kept (if it is lost)",
	    "give each master a replica" },
	[DOCTOR_GENERATION] = { "cache.ledger",
	    "another ledger has registered under this prefix: two ledgers "
	    "would each let a key run, so idemd serves none (503)", "once",
	    "if the ledger was made anew on purpose, delete the key that is "
	    "named; else choose another prefix" },
	[DOCTOR_LEDGER] = { "ledger.open",
	    "without it no request with a key runs", "all: 503",
	    "do what it says; idemctl init makes one where there never was "
	    "any: a new ledger knows no key, and all would run again" },
	[DOCTOR_SQLITE] = { "ledger.sqlite",
	    "versions before 3.51.3 (but for 3.44.6 and 3.50.7) can lose "
	    "pages when a checkpoint meets a writer; idem's lock beside the "
	    "ledger never lets them meet", NO_PROMISE ", as long as only idem "
	    "writes to it", "never write to it with other programs" },
	[DOCTOR_SYNC] = { "ledger.synchronous",
	    "every claim is on the disk before its program starts",
	    NO_PROMISE, "nothing" },
	[DOCTOR_LEDGER_MODE] = { "ledger.mode",
	    "it holds what people were answered, and decides what runs",
	    "guarded; once if others may write",
	    "chmod 600 the ledger and what lies beside it" },
	[DOCTOR_LEDGER_OWNER] = { "ledger.owner",
	    "idemd can only use what belongs to its user", "all: 503",
	    "chown them to the user that idemd runs as" },
	[DOCTOR_LEDGER_WRITE] = { "ledger.write",
	    "each claim is written there before its program starts",
	    "all: 503", "do what it says" },
	[DOCTOR_RUN_FOLDER] = { "ledger.run",
	    "who may write there can make a run that goes on look dead",
	    "once", "chmod go-w the folder" },
	[DOCTOR_FILE_SYSTEM] = { "ledger.file-system",
	    "what is in memory is gone with the next boot, what is in a "
	    "container's layer with the container", "once, kept",
	    "put the ledger on a disk that stays" },
	[DOCTOR_SPACE] = { "ledger.space",
	    "a ledger that cannot grow takes no claim, and no answer of what "
	    "has run", "kept; new keys get 503",
	    "make room, or shorten keep" },
	[DOCTOR_RUNS] = { "runs.open",
	    "without it nothing can be noted, so nothing is started",
	    "all: 503", "do what it says; its owner is who idemd runs as" },
	[DOCTOR_RUNS_MISSING] = { "runs.missing",
	    "it is made when idemd starts; if idemd has been there before, all "
	    "that was known of runs under way is lost, and only time says that "
	    "they are dead", "settled (later, and as unknown)",
	    "nothing before the first start; else see who removed it" },
	[DOCTOR_RUNS_NETWORK] = { "runs.network",
	    "locks over a network or in user space may be seen free while "
	    "they are held, and so a run that goes on looks dead", "once",
	    "put it on a disk of this host: run = \"/var/lib/idem/run\"" },
	[DOCTOR_RUNS_MEMORY] = { "runs.memory",
	    "a reboot makes what ran unknown, as on any other; here it also "
	    "takes the notes of it, and what the programs had written; and "
	    "output of runs under way takes memory",
	    NO_PROMISE, "put it on a disk if those matter" },
	[DOCTOR_RUNS_LOCKS] = { "runs.locks",
	    "nobody can tell a run that goes on from one that is dead",
	    "all: 503", "put it on a file system that has flock(2)" },
	[DOCTOR_RUNS_SPACE] = { "runs.space",
	    "with less than reserve nothing with a key is started, since its "
	    "end could perhaps not be written down",
	    NO_PROMISE ", but new keys get 503", "make room" },
	[DOCTOR_RESERVE] = { "runs.reserve",
	    "programs are started though there may be no room for what comes "
	    "of them", "settled (as unknown), kept",
	    "set reserve to \"64MiB\" or more" },
	[DOCTOR_RUNS_LEFT] = { "runs.left",
	    "their lobby or keeper died; idemd settles them within a second "
	    "or so, once their store answers", NO_PROMISE,
	    "if they stay, start idemd; idemctl unknown lists them" },
	[DOCTOR_RUNS_STRAY] = { "runs.stray",
	    "the ledger or the Redis that they were claimed in is not the one "
	    "that is configured here, so idemd cannot settle them, nor idemctl "
	    "unknown list them; whether they took effect is not known, and "
	    "their keys are not blocked here", "settled",
	    "name all stores (--config FILE); put that one back into the "
	    "configuration until they are settled; if it is gone for good, "
	    "stop idemd and remove their files (doc/operations.md)" },
	[DOCTOR_UNKNOWN_KEYS] = { "keys.unknown",
	    "nobody can say whether they took effect, and their clients get "
	    "409 until somebody looks", NO_PROMISE,
	    "idemctl unknown, then idemctl resolve" },
	[DOCTOR_KEYS_FILE] = { "tokens.file",
	    "without it no token can be made or known again",
	    "all: requests with tokens get 403",
	    "make one by idemctl token --make-key" },
	[DOCTOR_KEYS_MODE] = { "tokens.mode",
	    "who can read it can sign tokens", "guarded",
	    "chmod 600 it; make a new key first in it if others have read "
	    "it" },
	[DOCTOR_KEYS_AGE] = { "tokens.age",
	    "the longer a key is used, the more have seen it", NO_PROMISE,
	    "put a new line first, and take the old one out once its tokens "
	    "are over" },
	[DOCTOR_LIFE_SHORT] = { "tokens.life",
	    "who fills in a form for longer gets 410 and loses what was typed",
	    NO_PROMISE, "set life to an hour or more" },
	[DOCTOR_LIFE_LONG] = { "tokens.life-long",
	    "each token that is not used takes memory for as long",
	    NO_PROMISE, "set life to what people need" },
	[DOCTOR_CONF] = { "conf.doubt",
	    "idemd warns of it too when it starts", "what it says itself",
	    "look at the line; idemd --explain shows what it does" },
	[DOCTOR_PROMISES] = { "route.promises",
	    "what its arbiter cannot keep", "what it says itself",
	    "see idem.conf(5), arbiter; doc/operations.md has the table" },
	[DOCTOR_OUTAGE] = { "route.outage",
	    "while Redis is away, and after it, a key may run again",
	    "once, same answer, kept",
	    "say on_outage = \"reject\" if a second run is worse than a 503" },
	[DOCTOR_SCHEME] = { "route.scheme",
	    "it is there to be compared with: a slow run or a lost reply "
	    "alone lets a key run twice", "once, same answer, guarded",
	    "say scheme = \"script\"" },
	[DOCTOR_RERUN] = { "route.on-unknown",
	    "a run that nobody knows the end of is started again",
	    "once (as many starts as retry says)",
	    "keep it only where a second run does no harm" },
	[DOCTOR_PROBE] = { "route.probe",
	    "an unknown key stays unknown, as under block", NO_PROMISE,
	    "make it an executable file for idemd's user" },
	[DOCTOR_SPOOL] = { "route.spool",
	    "when a worker dies, the answers that it waited for are lost, and "
	    "their keys are unknown", "settled (as unknown)",
	    "leave spool on, unless its answers are too large for the disk" },
	[DOCTOR_LEASE] = { "route.lease",
	    "it follows how long the route's runs take", NO_PROMISE,
	    "nothing" },
	[DOCTOR_ONE_HOST] = { "route.one-host",
	    "another host with a ledger of its own knows none of these keys",
	    "once, if several hosts serve the route",
	    "serve it on one host, or choose another arbiter" },
	[DOCTOR_FRONT] = { "front",
	    "it has been looked through", NO_PROMISE, "nothing" },
	[DOCTOR_FRONT_REPEATS] = { "front.repeats",
	    "the server sends a POST again by itself: without a key it runs "
	    "twice, and with one on a host with another ledger",
	    "once", "let it send nothing again that was sent" },
	[DOCTOR_FRONT_REPEATS_SAFE] = { "front.repeats-safe",
	    "the server repeats what is no POST or PATCH when it failed",
	    NO_PROMISE ", if GET and PUT of the program do no harm twice",
	    "say off where they do" },
	[DOCTOR_FRONT_COPIES] = { "front.copies",
	    "every request is sent a second time", "once (without a key)",
	    "take it out of this location" },
	[DOCTOR_FRONT_TIME] = { "front.time",
	    "the server gives up (504) before idemd does: the program goes on, "
	    "and without a key nobody learns what became of it", "honest",
	    "make it longer than limit and grace together" },
	[DOCTOR_FRONT_TIME_WAIT] = { "front.time-wait",
	    "the server gives up (504) even on requests that only wait, of "
	    "which idemd would have said that nothing has begun", "honest",
	    "make it longer than limit and grace together" },
	[DOCTOR_FRONT_CACHE] = { "front.cache",
	    "a stored answer would have two owners, and only one of them asks "
	    "whose it is", "guarded, kept",
	    "do not cache what idemd answers to requests with keys" },
	[DOCTOR_FRONT_TOKEN_CACHE] = { "front.cache-tokens",
	    "a page that is kept gives the same token to all who see it: the "
	    "first submits, the others get 422 or the first one's answer, and "
	    "after the token's life 410", "guarded",
	    "do not cache pages with forms" },
	[DOCTOR_FRONT_HIDES] = { "front.hides",
	    "the client cannot tell 409 unknown from 409 in progress, nor 503 "
	    "not started from 504", "honest",
	    "let idemd's answers through" },
	[DOCTOR_FRONT_STREAMS] = { "front.streams",
	    "an upload comes without its length (411), or is cut off on its "
	    "way", NO_PROMISE, "let the server read the whole body first" },
	[DOCTOR_FRONT_UPLOAD] = { "front.upload",
	    "a larger upload is answered by the server (413 or 500), and idemd "
	    "hears nothing", NO_PROMISE ", drop-in",
	    "set it to what the programs take" },
	[DOCTOR_FRONT_PAUSE] = { "front.pause",
	    "after one refused connection the server answers 503 for that "
	    "long by itself, though idemd is there again", "drop-in",
	    "set it to 0 (lighttpd: 1)" },
	[DOCTOR_FRONT_USER] = { "front.user",
	    "it is what the client says, checked by nobody, and becomes a part "
	    "of the key", "guarded",
	    "set it only where auth_basic or auth_request guards the "
	    "location" },
	[DOCTOR_FRONT_PARAMS] = { "front.params",
	    "beside parameters of its own it gives the program two values of "
	    "some, and the wrong one first", "drop-in",
	    "leave it out, and say each as doc/fronts has it" },
	[DOCTOR_FRONT_FILE] = { "front.file",
	    "it cannot be looked through", NO_PROMISE,
	    "name a configuration of nginx, lighttpd, Apache or HAProxy" },
};

const struct doctor_meaning *
doctor_meaning(enum doctor_check check)
{
	assert(check < DOCTOR_CHECKS);
	return &meanings[check];
}

const char *
doctor_level_text(enum doctor_level level)
{
	static const char *const texts[] = {
		[DOCTOR_OK] = "ok",
		[DOCTOR_NOTE] = "note",
		[DOCTOR_WARN] = "warn",
		[DOCTOR_FAIL] = "fail",
	};

	assert(level <= DOCTOR_FAIL);
	return texts[level];
}
