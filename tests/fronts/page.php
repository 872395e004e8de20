<?php
# SPDX-License-Identifier: ISC
#
# A PHP form as there are many: it says what it was given, takes a file, and
# sets a status, cookies and a field.  PAGE_BOOK: where it writes orders down.

function said($title, $all)
{
	ksort($all);
	echo "$title\n";
	foreach ($all as $name => $value)
		echo "  $name: ", json_encode($value), "\n";
}

$told = [];
foreach (['REQUEST_METHOD', 'SCRIPT_NAME', 'SCRIPT_FILENAME', 'PATH_INFO',
    'QUERY_STRING', 'CONTENT_LENGTH', 'HTTP_HOST',
    'SERVER_PROTOCOL', 'PHP_SELF', 'HTTP_X_ONE'] as $name)
	$told[$name] = $_SERVER[$name] ?? null;
# These differ by specification: a GET has no length, a path no two slashes.
$told['CONTENT_LENGTH'] = (int) $told['CONTENT_LENGTH'];
$told['SCRIPT_FILENAME'] = str_replace('//', '/', $told['SCRIPT_FILENAME']);

$raw = file_get_contents('php://input');
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	$book = $_SERVER['PAGE_BOOK'] ?? getenv('PAGE_BOOK');
	file_put_contents($book, ($_GET['order'] ?? '') . "\n", FILE_APPEND);
	http_response_code(201);
	header('Location: /order/7');
}
header('Content-Type: text/plain; charset=utf-8');
header('X-Page: one');
header('X-Page: two', false);

said('told', $told);
said('query', $_GET);
said('form', $_POST);
foreach ($_FILES as $name => $file)
	said("file $name", ['name' => $file['name'], 'size' => $file['size'],
	    'sum' => md5_file($file['tmp_name'])]);
echo 'body ', strlen($raw), ' ', md5($raw), "\n";
