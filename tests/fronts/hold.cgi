#!/usr/bin/perl
# SPDX-License-Identifier: ISC
#
# Takes twenty seconds, and leaves no child behind when it is killed.

use strict;
use warnings;

use File::Basename qw(dirname);

open my $begun, '>>', dirname($0) . '/../../begun' or die;
print $begun "$ENV{QUERY_STRING}\n";
close $begun;
sleep 20;
print "Content-Type: text/plain\n\nhello\n";
