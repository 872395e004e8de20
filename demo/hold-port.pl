# SPDX-License-Identifier: ISC
#
# Prints the number of a port of 127.0.0.1 and has it until who started this ends,
# without listening: who wants any port gets another, and a server that is told
# this one gets it too if it sets SO_REUSEADDR.  Here that is set after bind, as
# else bind might choose one that is held so.

use strict;
use warnings;
use Socket;

my $parent = getppid;
my $fd;
socket($fd, PF_INET, SOCK_STREAM, 0) &&
    bind($fd, pack_sockaddr_in(0, INADDR_LOOPBACK)) &&
    setsockopt($fd, SOL_SOCKET, SO_REUSEADDR, 1) or
    die "no port on 127.0.0.1: $!\n";
print((unpack_sockaddr_in(getsockname($fd)))[0], "\n");
close STDOUT;
sleep 1 while getppid == $parent;
