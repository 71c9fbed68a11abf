/* sql/acdat_bgw--1.0.sql */

\echo Use "CREATE EXTENSION acdat_bgw" to load this file. \quit

/* ---- The library ---- */

CREATE FUNCTION acdat.require_library(version text) RETURNS void
	STABLE STRICT PARALLEL SAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_require_library';
COMMENT ON FUNCTION acdat.require_library(text) IS
	'raise an error if the library that is loaded is older than that; scripts of the extension call it first';
SELECT acdat.require_library('1.0');

-- who owns the schema could put functions beside those of the extension
DO $check$
BEGIN
	IF EXISTS (SELECT FROM pg_catalog.pg_namespace n
		JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
		WHERE n.nspname OPERATOR(pg_catalog.=) 'acdat' AND NOT r.rolsuper)
	THEN
		RAISE insufficient_privilege USING
			MESSAGE = 'schema "acdat" belongs to a role that is no superuser',
			HINT = 'Drop or rename the schema, or change its owner.';
	END IF;
END
$check$;

/* ---- Types ---- */

CREATE TYPE acdat.machine;

CREATE FUNCTION acdat.machine_in(cstring) RETURNS acdat.machine
	IMMUTABLE STRICT PARALLEL SAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_machine_in';
CREATE FUNCTION acdat.machine_out(acdat.machine) RETURNS cstring
	IMMUTABLE STRICT PARALLEL SAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_machine_out';
CREATE FUNCTION acdat.machine_recv(internal) RETURNS acdat.machine
	IMMUTABLE STRICT PARALLEL SAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_machine_recv';
CREATE FUNCTION acdat.machine_send(acdat.machine) RETURNS bytea
	IMMUTABLE STRICT PARALLEL SAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_machine_send';

CREATE TYPE acdat.machine (
	INPUT = acdat.machine_in,
	OUTPUT = acdat.machine_out,
	RECEIVE = acdat.machine_recv,
	SEND = acdat.machine_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE acdat.machine IS
	'a compiled dictionary as a value: private to each process that scans with it, unlike a published one';

CREATE TYPE acdat.match AS (
	pattern_id bigint,
	priority integer,
	tag text,
	byte_pos integer,
	byte_len integer,
	char_pos integer,
	char_len integer
);
COMMENT ON TYPE acdat.match IS
	'a match of a pattern; positions are 1-based and refer to the original value, those in characters are NULL for bytea';

CREATE FUNCTION acdat.machine_info(machine acdat.machine,
	OUT patterns bigint, OUT allow_patterns bigint, OUT states bigint,
	OUT bytes bigint, OUT max_pattern_bytes bigint, OUT engine text,
	OUT case_insensitive text, OUT normalization text, OUT boundary text,
	OUT ignore text, OUT encoding text, OUT checksum text)
	RETURNS record IMMUTABLE STRICT PARALLEL SAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_machine_info_sql';
COMMENT ON FUNCTION acdat.machine_info(acdat.machine) IS
	'size, options and checksum of a machine; nothing of its patterns';

/* ---- Compiling machine values ---- */

CREATE FUNCTION acdat.compile_final(internal) RETURNS acdat.machine
	IMMUTABLE LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_compile_final';
COMMENT ON FUNCTION acdat.compile_final(internal) IS
	'internal: ends the aggregate acdat.compile';

CREATE FUNCTION acdat.compile_step(internal, text) RETURNS internal
	IMMUTABLE LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_compile_step';
COMMENT ON FUNCTION acdat.compile_step(internal, text) IS
	'internal: takes one pattern of the aggregate acdat.compile';
CREATE AGGREGATE acdat.compile(text) (
	SFUNC = acdat.compile_step, STYPE = internal,
	FINALFUNC = acdat.compile_final, FINALFUNC_MODIFY = READ_WRITE
);
COMMENT ON AGGREGATE acdat.compile(text) IS
	'compile patterns into a machine value; NULL without rows';

CREATE FUNCTION acdat.compile_step(internal, text, bigint) RETURNS internal
	IMMUTABLE LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_compile_step';
COMMENT ON FUNCTION acdat.compile_step(internal, text, bigint) IS
	'internal: takes one pattern of the aggregate acdat.compile';
CREATE AGGREGATE acdat.compile(text, bigint) (
	SFUNC = acdat.compile_step, STYPE = internal,
	FINALFUNC = acdat.compile_final, FINALFUNC_MODIFY = READ_WRITE
);
COMMENT ON AGGREGATE acdat.compile(text, bigint) IS
	'compile patterns and ids into a machine value; NULL without rows';

CREATE FUNCTION acdat.compile_step(internal, text, bigint, integer) RETURNS internal
	IMMUTABLE LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_compile_step';
COMMENT ON FUNCTION acdat.compile_step(internal, text, bigint, integer) IS
	'internal: takes one pattern of the aggregate acdat.compile';
CREATE AGGREGATE acdat.compile(text, bigint, integer) (
	SFUNC = acdat.compile_step, STYPE = internal,
	FINALFUNC = acdat.compile_final, FINALFUNC_MODIFY = READ_WRITE
);
COMMENT ON AGGREGATE acdat.compile(text, bigint, integer) IS
	'compile patterns, ids and priorities into a machine value; NULL without rows';

CREATE FUNCTION acdat.compile_step(internal, text, bigint, integer, text) RETURNS internal
	IMMUTABLE LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_compile_step';
COMMENT ON FUNCTION acdat.compile_step(internal, text, bigint, integer, text) IS
	'internal: takes one pattern of the aggregate acdat.compile';
CREATE AGGREGATE acdat.compile(text, bigint, integer, text) (
	SFUNC = acdat.compile_step, STYPE = internal,
	FINALFUNC = acdat.compile_final, FINALFUNC_MODIFY = READ_WRITE
);
COMMENT ON AGGREGATE acdat.compile(text, bigint, integer, text) IS
	'compile patterns, ids, priorities and replacements into a machine value; NULL without rows';

CREATE FUNCTION acdat.compile_step(internal, bytea) RETURNS internal
	IMMUTABLE LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_compile_step';
COMMENT ON FUNCTION acdat.compile_step(internal, bytea) IS
	'internal: takes one pattern of the aggregate acdat.compile';
CREATE AGGREGATE acdat.compile(bytea) (
	SFUNC = acdat.compile_step, STYPE = internal,
	FINALFUNC = acdat.compile_final, FINALFUNC_MODIFY = READ_WRITE
);
COMMENT ON AGGREGATE acdat.compile(bytea) IS
	'compile patterns into a machine value; NULL without rows';

CREATE FUNCTION acdat.compile_step(internal, bytea, bigint) RETURNS internal
	IMMUTABLE LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_compile_step';
COMMENT ON FUNCTION acdat.compile_step(internal, bytea, bigint) IS
	'internal: takes one pattern of the aggregate acdat.compile';
CREATE AGGREGATE acdat.compile(bytea, bigint) (
	SFUNC = acdat.compile_step, STYPE = internal,
	FINALFUNC = acdat.compile_final, FINALFUNC_MODIFY = READ_WRITE
);
COMMENT ON AGGREGATE acdat.compile(bytea, bigint) IS
	'compile patterns and ids into a machine value; NULL without rows';

CREATE FUNCTION acdat.compile_step(internal, bytea, bigint, integer) RETURNS internal
	IMMUTABLE LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_compile_step';
COMMENT ON FUNCTION acdat.compile_step(internal, bytea, bigint, integer) IS
	'internal: takes one pattern of the aggregate acdat.compile';
CREATE AGGREGATE acdat.compile(bytea, bigint, integer) (
	SFUNC = acdat.compile_step, STYPE = internal,
	FINALFUNC = acdat.compile_final, FINALFUNC_MODIFY = READ_WRITE
);
COMMENT ON AGGREGATE acdat.compile(bytea, bigint, integer) IS
	'compile patterns, ids and priorities into a machine value; NULL without rows';

CREATE FUNCTION acdat.compile_step(internal, bytea, bigint, integer, bytea) RETURNS internal
	IMMUTABLE LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_compile_step';
COMMENT ON FUNCTION acdat.compile_step(internal, bytea, bigint, integer, bytea) IS
	'internal: takes one pattern of the aggregate acdat.compile';
CREATE AGGREGATE acdat.compile(bytea, bigint, integer, bytea) (
	SFUNC = acdat.compile_step, STYPE = internal,
	FINALFUNC = acdat.compile_final, FINALFUNC_MODIFY = READ_WRITE
);
COMMENT ON AGGREGATE acdat.compile(bytea, bigint, integer, bytea) IS
	'compile patterns, ids, priorities and replacements into a machine value; NULL without rows';

/* ---- Scanning ---- */

CREATE FUNCTION acdat.scan_support(internal) RETURNS internal
	IMMUTABLE STRICT PARALLEL SAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_scan_support';
COMMENT ON FUNCTION acdat.scan_support(internal) IS
	'internal: tells the planner what scanning functions cost and return';

CREATE FUNCTION acdat.contains(value text, dictionary text)
	RETURNS boolean STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_contains_sql';
COMMENT ON FUNCTION acdat.contains(text, text) IS
	'does any pattern of the dictionary occur?';

CREATE FUNCTION acdat.contains(value bytea, dictionary text)
	RETURNS boolean STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_contains_sql';
COMMENT ON FUNCTION acdat.contains(bytea, text) IS
	'does any pattern of the dictionary occur?';

CREATE FUNCTION acdat.count_matches(value text, dictionary text, policy text DEFAULT 'all_overlapping')
	RETURNS bigint STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_count_matches';
COMMENT ON FUNCTION acdat.count_matches(text, text, text) IS
	'number of matches of the dictionary under a policy';

CREATE FUNCTION acdat.count_matches(value bytea, dictionary text, policy text DEFAULT 'all_overlapping')
	RETURNS bigint STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_count_matches';
COMMENT ON FUNCTION acdat.count_matches(bytea, text, text) IS
	'number of matches of the dictionary under a policy';

CREATE FUNCTION acdat.match_ids(value text, dictionary text, policy text DEFAULT 'all_overlapping')
	RETURNS bigint[] STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_match_ids';
COMMENT ON FUNCTION acdat.match_ids(text, text, text) IS
	'distinct ids of the matching patterns of the dictionary, ascending';

CREATE FUNCTION acdat.match_ids(value bytea, dictionary text, policy text DEFAULT 'all_overlapping')
	RETURNS bigint[] STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_match_ids';
COMMENT ON FUNCTION acdat.match_ids(bytea, text, text) IS
	'distinct ids of the matching patterns of the dictionary, ascending';

CREATE FUNCTION acdat.first_match(value text, dictionary text, policy text DEFAULT 'leftmost_longest')
	RETURNS acdat.match STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_first_match';
COMMENT ON FUNCTION acdat.first_match(text, text, text) IS
	'the first match of the dictionary in the order of a policy, NULL if there is none';

CREATE FUNCTION acdat.first_match(value bytea, dictionary text, policy text DEFAULT 'leftmost_longest')
	RETURNS acdat.match STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_first_match';
COMMENT ON FUNCTION acdat.first_match(bytea, text, text) IS
	'the first match of the dictionary in the order of a policy, NULL if there is none';

CREATE FUNCTION acdat.matches(value text, dictionary text, policy text DEFAULT 'all_overlapping')
	RETURNS SETOF acdat.match STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support ROWS 10
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_matches';
COMMENT ON FUNCTION acdat.matches(text, text, text) IS
	'matches of the dictionary in the order of a policy: all_overlapping, leftmost_longest or leftmost_first';

CREATE FUNCTION acdat.matches(value bytea, dictionary text, policy text DEFAULT 'all_overlapping')
	RETURNS SETOF acdat.match STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support ROWS 10
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_matches';
COMMENT ON FUNCTION acdat.matches(bytea, text, text) IS
	'matches of the dictionary in the order of a policy: all_overlapping, leftmost_longest or leftmost_first';

CREATE FUNCTION acdat.replace(value text, dictionary text, policy text DEFAULT 'leftmost_longest')
	RETURNS text STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_replace';
COMMENT ON FUNCTION acdat.replace(text, text, text) IS
	'the value with each match of the dictionary replaced by its pattern''s replacement; the output is not scanned again';

CREATE FUNCTION acdat.replace(value bytea, dictionary text, policy text DEFAULT 'leftmost_longest')
	RETURNS bytea STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_replace';
COMMENT ON FUNCTION acdat.replace(bytea, text, text) IS
	'the value with each match of the dictionary replaced by its pattern''s replacement; the output is not scanned again';

CREATE FUNCTION acdat.redact(value text, dictionary text,
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS text STABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(text, text, text, text) IS
	'the value with everything that a pattern of the dictionary matches hidden: style chars puts a mask (default *) for each character, fixed a mask (default [REDACTED]) for each match, tag the tag of the pattern, as [NAME], hash a hash with the key acdat_bgw.hash_key, keep_last a mask for each character but the last four, or as many as in keep_last 2';

CREATE FUNCTION acdat.redact(value bytea, dictionary text,
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS bytea STABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(bytea, text, text, text) IS
	'the value with everything that a pattern of the dictionary matches hidden: style chars puts a mask (default *) for each character, fixed a mask (default [REDACTED]) for each match, tag the tag of the pattern, as [NAME], hash a hash with the key acdat_bgw.hash_key, keep_last a mask for each character but the last four, or as many as in keep_last 2';

CREATE FUNCTION acdat.redact(value text[], dictionary text,
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS text[] STABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(text[], text, text, text) IS
	'an array with everything that a pattern of the dictionary matches in its elements hidden, as in a text';

CREATE FUNCTION acdat.redact(value json, dictionary text,
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS json STABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(json, text, text, text) IS
	'a document with everything that a pattern of the dictionary matches in its string values hidden, as in a text; keys, numbers, order and whitespace stay';

CREATE FUNCTION acdat.redact(value jsonb, dictionary text,
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS jsonb STABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(jsonb, text, text, text) IS
	'a document with everything that a pattern of the dictionary matches in its string values hidden, as in a text; keys and numbers stay';

CREATE FUNCTION acdat.contains(value text, machine acdat.machine)
	RETURNS boolean IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_contains_sql';
COMMENT ON FUNCTION acdat.contains(text, acdat.machine) IS
	'does any pattern of the machine occur?';

CREATE FUNCTION acdat.contains(value bytea, machine acdat.machine)
	RETURNS boolean IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_contains_sql';
COMMENT ON FUNCTION acdat.contains(bytea, acdat.machine) IS
	'does any pattern of the machine occur?';

CREATE FUNCTION acdat.count_matches(value text, machine acdat.machine, policy text DEFAULT 'all_overlapping')
	RETURNS bigint IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_count_matches';
COMMENT ON FUNCTION acdat.count_matches(text, acdat.machine, text) IS
	'number of matches of the machine under a policy';

CREATE FUNCTION acdat.count_matches(value bytea, machine acdat.machine, policy text DEFAULT 'all_overlapping')
	RETURNS bigint IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_count_matches';
COMMENT ON FUNCTION acdat.count_matches(bytea, acdat.machine, text) IS
	'number of matches of the machine under a policy';

CREATE FUNCTION acdat.match_ids(value text, machine acdat.machine, policy text DEFAULT 'all_overlapping')
	RETURNS bigint[] IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_match_ids';
COMMENT ON FUNCTION acdat.match_ids(text, acdat.machine, text) IS
	'distinct ids of the matching patterns of the machine, ascending';

CREATE FUNCTION acdat.match_ids(value bytea, machine acdat.machine, policy text DEFAULT 'all_overlapping')
	RETURNS bigint[] IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_match_ids';
COMMENT ON FUNCTION acdat.match_ids(bytea, acdat.machine, text) IS
	'distinct ids of the matching patterns of the machine, ascending';

CREATE FUNCTION acdat.first_match(value text, machine acdat.machine, policy text DEFAULT 'leftmost_longest')
	RETURNS acdat.match IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_first_match';
COMMENT ON FUNCTION acdat.first_match(text, acdat.machine, text) IS
	'the first match of the machine in the order of a policy, NULL if there is none';

CREATE FUNCTION acdat.first_match(value bytea, machine acdat.machine, policy text DEFAULT 'leftmost_longest')
	RETURNS acdat.match IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_first_match';
COMMENT ON FUNCTION acdat.first_match(bytea, acdat.machine, text) IS
	'the first match of the machine in the order of a policy, NULL if there is none';

CREATE FUNCTION acdat.matches(value text, machine acdat.machine, policy text DEFAULT 'all_overlapping')
	RETURNS SETOF acdat.match IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support ROWS 10
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_matches';
COMMENT ON FUNCTION acdat.matches(text, acdat.machine, text) IS
	'matches of the machine in the order of a policy: all_overlapping, leftmost_longest or leftmost_first';

CREATE FUNCTION acdat.matches(value bytea, machine acdat.machine, policy text DEFAULT 'all_overlapping')
	RETURNS SETOF acdat.match IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support ROWS 10
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_matches';
COMMENT ON FUNCTION acdat.matches(bytea, acdat.machine, text) IS
	'matches of the machine in the order of a policy: all_overlapping, leftmost_longest or leftmost_first';

CREATE FUNCTION acdat.replace(value text, machine acdat.machine, policy text DEFAULT 'leftmost_longest')
	RETURNS text IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_replace';
COMMENT ON FUNCTION acdat.replace(text, acdat.machine, text) IS
	'the value with each match of the machine replaced by its pattern''s replacement; the output is not scanned again';

CREATE FUNCTION acdat.replace(value bytea, machine acdat.machine, policy text DEFAULT 'leftmost_longest')
	RETURNS bytea IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_replace';
COMMENT ON FUNCTION acdat.replace(bytea, acdat.machine, text) IS
	'the value with each match of the machine replaced by its pattern''s replacement; the output is not scanned again';

CREATE FUNCTION acdat.redact(value text, machine acdat.machine,
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS text IMMUTABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(text, acdat.machine, text, text) IS
	'the value with everything that a pattern of the machine matches hidden: style chars puts a mask (default *) for each character, fixed a mask (default [REDACTED]) for each match, tag the tag of the pattern, as [NAME], keep_last a mask for each character but the last four, or as many as in keep_last 2';

CREATE FUNCTION acdat.redact(value bytea, machine acdat.machine,
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS bytea IMMUTABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(bytea, acdat.machine, text, text) IS
	'the value with everything that a pattern of the machine matches hidden: style chars puts a mask (default *) for each character, fixed a mask (default [REDACTED]) for each match, tag the tag of the pattern, as [NAME], keep_last a mask for each character but the last four, or as many as in keep_last 2';

CREATE FUNCTION acdat.redact(value text[], machine acdat.machine,
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS text[] IMMUTABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(text[], acdat.machine, text, text) IS
	'an array with everything that a pattern of the machine matches in its elements hidden, as in a text';

CREATE FUNCTION acdat.redact(value json, machine acdat.machine,
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS json IMMUTABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(json, acdat.machine, text, text) IS
	'a document with everything that a pattern of the machine matches in its string values hidden, as in a text; keys, numbers, order and whitespace stay';

CREATE FUNCTION acdat.redact(value jsonb, machine acdat.machine,
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS jsonb IMMUTABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(jsonb, acdat.machine, text, text) IS
	'a document with everything that a pattern of the machine matches in its string values hidden, as in a text; keys and numbers stay';

/*
 * The same for patterns with certain tags only: all others but allow patterns
 * are as if they were not there.
 */

CREATE FUNCTION acdat.contains(value text, dictionary text, tags text[])
	RETURNS boolean STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_contains_sql';
COMMENT ON FUNCTION acdat.contains(text, text, text[]) IS
	'does any pattern of the dictionary with one of the tags occur?';

CREATE FUNCTION acdat.contains(value bytea, dictionary text, tags text[])
	RETURNS boolean STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_contains_sql';
COMMENT ON FUNCTION acdat.contains(bytea, text, text[]) IS
	'does any pattern of the dictionary with one of the tags occur?';

CREATE FUNCTION acdat.count_matches(value text, dictionary text, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS bigint STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_count_matches';
COMMENT ON FUNCTION acdat.count_matches(text, text, text[], text) IS
	'number of matches of the dictionary under a policy; only patterns with one of the tags count';

CREATE FUNCTION acdat.count_matches(value bytea, dictionary text, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS bigint STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_count_matches';
COMMENT ON FUNCTION acdat.count_matches(bytea, text, text[], text) IS
	'number of matches of the dictionary under a policy; only patterns with one of the tags count';

CREATE FUNCTION acdat.match_ids(value text, dictionary text, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS bigint[] STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_match_ids';
COMMENT ON FUNCTION acdat.match_ids(text, text, text[], text) IS
	'distinct ids of the matching patterns of the dictionary, ascending; only patterns with one of the tags count';

CREATE FUNCTION acdat.match_ids(value bytea, dictionary text, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS bigint[] STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_match_ids';
COMMENT ON FUNCTION acdat.match_ids(bytea, text, text[], text) IS
	'distinct ids of the matching patterns of the dictionary, ascending; only patterns with one of the tags count';

CREATE FUNCTION acdat.first_match(value text, dictionary text, tags text[], policy text DEFAULT 'leftmost_longest')
	RETURNS acdat.match STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_first_match';
COMMENT ON FUNCTION acdat.first_match(text, text, text[], text) IS
	'the first match of the dictionary in the order of a policy, NULL if there is none; only patterns with one of the tags count';

CREATE FUNCTION acdat.first_match(value bytea, dictionary text, tags text[], policy text DEFAULT 'leftmost_longest')
	RETURNS acdat.match STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_first_match';
COMMENT ON FUNCTION acdat.first_match(bytea, text, text[], text) IS
	'the first match of the dictionary in the order of a policy, NULL if there is none; only patterns with one of the tags count';

CREATE FUNCTION acdat.matches(value text, dictionary text, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS SETOF acdat.match STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support ROWS 10
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_matches';
COMMENT ON FUNCTION acdat.matches(text, text, text[], text) IS
	'matches of the dictionary in the order of a policy: all_overlapping, leftmost_longest or leftmost_first; only patterns with one of the tags count';

CREATE FUNCTION acdat.matches(value bytea, dictionary text, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS SETOF acdat.match STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support ROWS 10
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_matches';
COMMENT ON FUNCTION acdat.matches(bytea, text, text[], text) IS
	'matches of the dictionary in the order of a policy: all_overlapping, leftmost_longest or leftmost_first; only patterns with one of the tags count';

CREATE FUNCTION acdat.replace(value text, dictionary text, tags text[], policy text DEFAULT 'leftmost_longest')
	RETURNS text STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_replace';
COMMENT ON FUNCTION acdat.replace(text, text, text[], text) IS
	'the value with each match of the dictionary replaced by its pattern''s replacement; the output is not scanned again; only patterns with one of the tags count';

CREATE FUNCTION acdat.replace(value bytea, dictionary text, tags text[], policy text DEFAULT 'leftmost_longest')
	RETURNS bytea STABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_replace';
COMMENT ON FUNCTION acdat.replace(bytea, text, text[], text) IS
	'the value with each match of the dictionary replaced by its pattern''s replacement; the output is not scanned again; only patterns with one of the tags count';

CREATE FUNCTION acdat.redact(value text, dictionary text, tags text[],
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS text STABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(text, text, text[], text, text) IS
	'the value with everything hidden that a pattern of the dictionary with one of the tags matches; for styles see redact() without tags';

CREATE FUNCTION acdat.redact(value bytea, dictionary text, tags text[],
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS bytea STABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(bytea, text, text[], text, text) IS
	'the value with everything hidden that a pattern of the dictionary with one of the tags matches; for styles see redact() without tags';

CREATE FUNCTION acdat.redact(value text[], dictionary text, tags text[],
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS text[] STABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(text[], text, text[], text, text) IS
	'an array with everything that a pattern of the dictionary matches in its elements hidden, as in a text; only patterns with one of the tags count';

CREATE FUNCTION acdat.redact(value json, dictionary text, tags text[],
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS json STABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(json, text, text[], text, text) IS
	'a document with everything that a pattern of the dictionary matches in its string values hidden, as in a text; keys, numbers, order and whitespace stay; only patterns with one of the tags count';

CREATE FUNCTION acdat.redact(value jsonb, dictionary text, tags text[],
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS jsonb STABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(jsonb, text, text[], text, text) IS
	'a document with everything that a pattern of the dictionary matches in its string values hidden, as in a text; keys and numbers stay; only patterns with one of the tags count';

CREATE FUNCTION acdat.contains(value text, machine acdat.machine, tags text[])
	RETURNS boolean IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_contains_sql';
COMMENT ON FUNCTION acdat.contains(text, acdat.machine, text[]) IS
	'does any pattern of the machine with one of the tags occur?';

CREATE FUNCTION acdat.contains(value bytea, machine acdat.machine, tags text[])
	RETURNS boolean IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_contains_sql';
COMMENT ON FUNCTION acdat.contains(bytea, acdat.machine, text[]) IS
	'does any pattern of the machine with one of the tags occur?';

CREATE FUNCTION acdat.count_matches(value text, machine acdat.machine, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS bigint IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_count_matches';
COMMENT ON FUNCTION acdat.count_matches(text, acdat.machine, text[], text) IS
	'number of matches of the machine under a policy; only patterns with one of the tags count';

CREATE FUNCTION acdat.count_matches(value bytea, machine acdat.machine, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS bigint IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_count_matches';
COMMENT ON FUNCTION acdat.count_matches(bytea, acdat.machine, text[], text) IS
	'number of matches of the machine under a policy; only patterns with one of the tags count';

CREATE FUNCTION acdat.match_ids(value text, machine acdat.machine, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS bigint[] IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_match_ids';
COMMENT ON FUNCTION acdat.match_ids(text, acdat.machine, text[], text) IS
	'distinct ids of the matching patterns of the machine, ascending; only patterns with one of the tags count';

CREATE FUNCTION acdat.match_ids(value bytea, machine acdat.machine, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS bigint[] IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_match_ids';
COMMENT ON FUNCTION acdat.match_ids(bytea, acdat.machine, text[], text) IS
	'distinct ids of the matching patterns of the machine, ascending; only patterns with one of the tags count';

CREATE FUNCTION acdat.first_match(value text, machine acdat.machine, tags text[], policy text DEFAULT 'leftmost_longest')
	RETURNS acdat.match IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_first_match';
COMMENT ON FUNCTION acdat.first_match(text, acdat.machine, text[], text) IS
	'the first match of the machine in the order of a policy, NULL if there is none; only patterns with one of the tags count';

CREATE FUNCTION acdat.first_match(value bytea, machine acdat.machine, tags text[], policy text DEFAULT 'leftmost_longest')
	RETURNS acdat.match IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_first_match';
COMMENT ON FUNCTION acdat.first_match(bytea, acdat.machine, text[], text) IS
	'the first match of the machine in the order of a policy, NULL if there is none; only patterns with one of the tags count';

CREATE FUNCTION acdat.matches(value text, machine acdat.machine, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS SETOF acdat.match IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support ROWS 10
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_matches';
COMMENT ON FUNCTION acdat.matches(text, acdat.machine, text[], text) IS
	'matches of the machine in the order of a policy: all_overlapping, leftmost_longest or leftmost_first; only patterns with one of the tags count';

CREATE FUNCTION acdat.matches(value bytea, machine acdat.machine, tags text[], policy text DEFAULT 'all_overlapping')
	RETURNS SETOF acdat.match IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support ROWS 10
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_matches';
COMMENT ON FUNCTION acdat.matches(bytea, acdat.machine, text[], text) IS
	'matches of the machine in the order of a policy: all_overlapping, leftmost_longest or leftmost_first; only patterns with one of the tags count';

CREATE FUNCTION acdat.replace(value text, machine acdat.machine, tags text[], policy text DEFAULT 'leftmost_longest')
	RETURNS text IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_replace';
COMMENT ON FUNCTION acdat.replace(text, acdat.machine, text[], text) IS
	'the value with each match of the machine replaced by its pattern''s replacement; the output is not scanned again; only patterns with one of the tags count';

CREATE FUNCTION acdat.replace(value bytea, machine acdat.machine, tags text[], policy text DEFAULT 'leftmost_longest')
	RETURNS bytea IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_replace';
COMMENT ON FUNCTION acdat.replace(bytea, acdat.machine, text[], text) IS
	'the value with each match of the machine replaced by its pattern''s replacement; the output is not scanned again; only patterns with one of the tags count';

CREATE FUNCTION acdat.redact(value text, machine acdat.machine, tags text[],
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS text IMMUTABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(text, acdat.machine, text[], text, text) IS
	'the value with everything hidden that a pattern of the machine with one of the tags matches; for styles see redact() without tags';

CREATE FUNCTION acdat.redact(value bytea, machine acdat.machine, tags text[],
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS bytea IMMUTABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(bytea, acdat.machine, text[], text, text) IS
	'the value with everything hidden that a pattern of the machine with one of the tags matches; for styles see redact() without tags';

CREATE FUNCTION acdat.redact(value text[], machine acdat.machine, tags text[],
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS text[] IMMUTABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(text[], acdat.machine, text[], text, text) IS
	'an array with everything that a pattern of the machine matches in its elements hidden, as in a text; only patterns with one of the tags count';

CREATE FUNCTION acdat.redact(value json, machine acdat.machine, tags text[],
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS json IMMUTABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(json, acdat.machine, text[], text, text) IS
	'a document with everything that a pattern of the machine matches in its string values hidden, as in a text; keys, numbers, order and whitespace stay; only patterns with one of the tags count';

CREATE FUNCTION acdat.redact(value jsonb, machine acdat.machine, tags text[],
	style text DEFAULT 'chars', mask text DEFAULT NULL)
	RETURNS jsonb IMMUTABLE PARALLEL SAFE COST 50 SUPPORT acdat.scan_support
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact';
COMMENT ON FUNCTION acdat.redact(jsonb, acdat.machine, text[], text, text) IS
	'a document with everything that a pattern of the machine matches in its string values hidden, as in a text; keys and numbers stay; only patterns with one of the tags count';

CREATE FUNCTION acdat.redact_trigger() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_redact_trigger';
COMMENT ON FUNCTION acdat.redact_trigger() IS
	'trigger BEFORE INSERT OR UPDATE FOR EACH ROW: hides what a dictionary, the first argument, matches in the columns named by the others; an argument may also be style=..., mask=... or tags=...,..., as for redact()';

CREATE FUNCTION acdat.create_redacted_view(source regclass, dictionary text,
	columns text[], style text DEFAULT 'chars', mask text DEFAULT NULL,
	view_name text DEFAULT NULL, tags text[] DEFAULT NULL)
	RETURNS regclass VOLATILE PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_create_redacted_view';
COMMENT ON FUNCTION acdat.create_redacted_view(regclass, text, text[], text, text, text, text[]) IS
	'create or replace a view of a table, beside it and with its owner, readers, columns and types, that shows some columns redacted, as by redact() with the style, mask and tags; named like the table with _redacted unless a name is given';

/* ---- Publishing ---- */

CREATE TABLE acdat.dictionary (
	id uuid PRIMARY KEY,
	name text NOT NULL UNIQUE,
	owner name NOT NULL,
	reader name,
	cluster boolean NOT NULL DEFAULT false,
	keep_versions integer NOT NULL DEFAULT 3,
	version bigint NOT NULL,
	revision bigint NOT NULL
);
COMMENT ON TABLE acdat.dictionary IS
	'dictionaries of this database, one row each: the durable truth that shared memory is a cache of; changed through acdat.publish() and its kin';
COMMENT ON COLUMN acdat.dictionary.owner IS 'name of the role that may change the dictionary and read its patterns';
COMMENT ON COLUMN acdat.dictionary.reader IS 'name of the role whose members may scan, public for everybody, NULL for the owner only';
COMMENT ON COLUMN acdat.dictionary.cluster IS 'usable by name from every database of the cluster';
COMMENT ON COLUMN acdat.dictionary.version IS 'number of the current version';
COMMENT ON COLUMN acdat.dictionary.revision IS 'grows with every change of the row';

CREATE TABLE acdat.dictionary_version (
	dictionary uuid NOT NULL,
	version bigint NOT NULL,
	publisher name NOT NULL,
	published_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
	patterns bigint NOT NULL,
	pattern_bytes bigint NOT NULL,
	case_insensitive text NOT NULL,
	normalization text NOT NULL,
	boundary text NOT NULL,
	ignore text NOT NULL,
	encoding text NOT NULL,
	source text,
	source_path text,
	content bytea NOT NULL,
	PRIMARY KEY (dictionary, version)
);
-- publish() compresses the patterns itself, by a faster method
ALTER TABLE acdat.dictionary_version ALTER content SET STORAGE external;
COMMENT ON TABLE acdat.dictionary_version IS
	'kept versions of dictionaries with their patterns as one value';
COMMENT ON COLUMN acdat.dictionary_version.source IS 'the query it was published from, NULL for an array';
COMMENT ON COLUMN acdat.dictionary_version.content IS 'the patterns; read them with acdat.patterns()';

REVOKE ALL ON acdat.dictionary, acdat.dictionary_version FROM PUBLIC;

SELECT pg_catalog.pg_extension_config_dump('acdat.dictionary', '');
SELECT pg_catalog.pg_extension_config_dump('acdat.dictionary_version', '');

CREATE FUNCTION acdat.notify_change() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_notify_change';
COMMENT ON FUNCTION acdat.notify_change() IS
	'has changes of the tables that did not come through publish() loaded at commit';
REVOKE ALL ON FUNCTION acdat.notify_change() FROM PUBLIC;

CREATE TRIGGER notify_change AFTER INSERT OR UPDATE OR DELETE ON acdat.dictionary
	FOR EACH ROW EXECUTE FUNCTION acdat.notify_change();
CREATE TRIGGER notify_truncate AFTER TRUNCATE ON acdat.dictionary
	FOR EACH STATEMENT EXECUTE FUNCTION acdat.notify_change();
CREATE TRIGGER notify_change AFTER INSERT OR UPDATE OR DELETE ON acdat.dictionary_version
	FOR EACH ROW EXECUTE FUNCTION acdat.notify_change();
ALTER TABLE acdat.dictionary ENABLE ALWAYS TRIGGER notify_change;
ALTER TABLE acdat.dictionary ENABLE ALWAYS TRIGGER notify_truncate;
ALTER TABLE acdat.dictionary_version ENABLE ALWAYS TRIGGER notify_change;

CREATE FUNCTION acdat.publish(name text, query text,
	case_insensitive text DEFAULT NULL, normalization text DEFAULT NULL,
	boundary text DEFAULT NULL, ignore text DEFAULT NULL,
	reader text DEFAULT NULL, cluster boolean DEFAULT NULL,
	allow_empty boolean DEFAULT NULL, keep_versions integer DEFAULT NULL)
	RETURNS bigint VOLATILE PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_publish_query';
COMMENT ON FUNCTION acdat.publish(text, text, text, text, text, text, text, boolean, boolean, integer) IS
	'publish the next version of a dictionary from a query with a column pattern and optionally id, priority, replacement, tag, allow; options left out stay as they are; returns the version';

CREATE FUNCTION acdat.publish(name text, patterns text[],
	case_insensitive text DEFAULT NULL, normalization text DEFAULT NULL,
	boundary text DEFAULT NULL, ignore text DEFAULT NULL,
	reader text DEFAULT NULL, cluster boolean DEFAULT NULL,
	allow_empty boolean DEFAULT NULL, keep_versions integer DEFAULT NULL)
	RETURNS bigint VOLATILE PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_publish_array';
COMMENT ON FUNCTION acdat.publish(text, text[], text, text, text, text, text, boolean, boolean, integer) IS
	'publish the next version of a dictionary from an array of patterns; ids are their positions; returns the version';

REVOKE ALL ON FUNCTION
	acdat.publish(text, text, text, text, text, text, text, boolean, boolean, integer),
	acdat.publish(text, text[], text, text, text, text, text, boolean, boolean, integer)
	FROM PUBLIC;

CREATE FUNCTION acdat.publish_if_changed(name text, query text,
	case_insensitive text DEFAULT NULL, normalization text DEFAULT NULL,
	boundary text DEFAULT NULL, ignore text DEFAULT NULL,
	reader text DEFAULT NULL, cluster boolean DEFAULT NULL,
	allow_empty boolean DEFAULT NULL, keep_versions integer DEFAULT NULL)
	RETURNS bigint VOLATILE PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_publish_query_if_changed';
COMMENT ON FUNCTION acdat.publish_if_changed(text, text, text, text, text, text, text, boolean, boolean, integer) IS
	'publish() unless patterns, query and options are those of the current version; returns the version that is current then';

CREATE FUNCTION acdat.publish_if_changed(name text, patterns text[],
	case_insensitive text DEFAULT NULL, normalization text DEFAULT NULL,
	boundary text DEFAULT NULL, ignore text DEFAULT NULL,
	reader text DEFAULT NULL, cluster boolean DEFAULT NULL,
	allow_empty boolean DEFAULT NULL, keep_versions integer DEFAULT NULL)
	RETURNS bigint VOLATILE PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_publish_array_if_changed';
COMMENT ON FUNCTION acdat.publish_if_changed(text, text[], text, text, text, text, text, boolean, boolean, integer) IS
	'publish() unless patterns with their positions and options are those of the current version; returns the version that is current then';

REVOKE ALL ON FUNCTION
	acdat.publish_if_changed(text, text, text, text, text, text, text, boolean, boolean, integer),
	acdat.publish_if_changed(text, text[], text, text, text, text, text, boolean, boolean, integer)
	FROM PUBLIC;

CREATE FUNCTION acdat.republish(name text)
	RETURNS bigint VOLATILE STRICT PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_republish';
COMMENT ON FUNCTION acdat.republish(text) IS
	'run the stored query of a dictionary again, as its owner, and publish the result; returns the version';

CREATE FUNCTION acdat.attach(name text, source regclass,
	debounce interval DEFAULT '1 second')
	RETURNS void VOLATILE STRICT PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_attach';
COMMENT ON FUNCTION acdat.attach(text, regclass, interval) IS
	'have a dictionary republished, by a background worker as its owner, when a table has changed: so long after the last commit, and at most ten times as long after the first';

CREATE FUNCTION acdat.detach(name text, source regclass)
	RETURNS void VOLATILE STRICT PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_detach';
COMMENT ON FUNCTION acdat.detach(text, regclass) IS
	'have changes of a table no longer republish a dictionary';

CREATE FUNCTION acdat.attached_change() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_attached_change';
COMMENT ON FUNCTION acdat.attached_change() IS
	'trigger made by acdat.attach(): has the dictionary republished after the commit';
REVOKE ALL ON FUNCTION acdat.attached_change() FROM PUBLIC;

CREATE FUNCTION acdat.rollback(name text, version bigint)
	RETURNS bigint VOLATILE STRICT PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_rollback';
COMMENT ON FUNCTION acdat.rollback(text, bigint) IS
	'publish a kept version of a dictionary again, with its options, as a new version; returns the version';

CREATE FUNCTION acdat.drop_dictionary(name text)
	RETURNS void VOLATILE STRICT PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_drop_dictionary';
COMMENT ON FUNCTION acdat.drop_dictionary(text) IS
	'drop a dictionary with all its versions';

CREATE FUNCTION acdat.rename_dictionary(name text, new_name text)
	RETURNS void VOLATILE STRICT PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_rename_dictionary';
COMMENT ON FUNCTION acdat.rename_dictionary(text, text) IS
	'give a dictionary another name';

CREATE FUNCTION acdat.set_reader(name text, reader text)
	RETURNS void VOLATILE PARALLEL UNSAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_set_reader';
COMMENT ON FUNCTION acdat.set_reader(text, text) IS
	'let the members of a role (public: everybody, NULL: the owner only) scan with a dictionary';

CREATE FUNCTION acdat.patterns(name text, version bigint DEFAULT NULL,
	OUT pattern text, OUT pattern_bytes bytea, OUT id bigint,
	OUT priority integer, OUT replacement text, OUT replacement_bytes bytea,
	OUT tag text, OUT allow boolean)
	RETURNS SETOF record STABLE PARALLEL SAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_patterns';
COMMENT ON FUNCTION acdat.patterns(text, bigint) IS
	'the patterns of a kept version (default: the current one) of a dictionary, for its owner only';

CREATE FUNCTION acdat.diff(name text, version_1 bigint, version_2 bigint DEFAULT NULL,
	OUT change text, OUT pattern text, OUT pattern_bytes bytea,
	OUT id_1 bigint, OUT id_2 bigint, OUT priority_1 integer, OUT priority_2 integer,
	OUT replacement_1 text, OUT replacement_2 text, OUT tag_1 text, OUT tag_2 text,
	OUT allow_1 boolean, OUT allow_2 boolean)
	RETURNS SETOF record STABLE PARALLEL SAFE
	LANGUAGE sql
BEGIN ATOMIC
	-- the same bytes may be a pattern several times, with different ids
	WITH a AS (
		SELECT p.*, row_number() OVER (PARTITION BY p.pattern_bytes ORDER BY p.id) AS n
		FROM acdat.patterns(diff.name, diff.version_1) p
	), b AS (
		SELECT p.*, row_number() OVER (PARTITION BY p.pattern_bytes ORDER BY p.id) AS n
		FROM acdat.patterns(diff.name, diff.version_2) p
	)
	SELECT CASE WHEN a.n IS NULL THEN 'added' WHEN b.n IS NULL THEN 'removed' ELSE 'changed' END,
		coalesce(a.pattern, b.pattern), coalesce(a.pattern_bytes, b.pattern_bytes),
		a.id, b.id, a.priority, b.priority, a.replacement, b.replacement,
		a.tag, b.tag, a.allow, b.allow
	FROM a FULL JOIN b ON a.pattern_bytes = b.pattern_bytes AND a.n = b.n
	WHERE (a.n, a.id, a.priority, a.replacement_bytes, a.tag, a.allow)
		IS DISTINCT FROM (b.n, b.id, b.priority, b.replacement_bytes, b.tag, b.allow)
	ORDER BY 3, a.n, b.n;
END;
COMMENT ON FUNCTION acdat.diff(text, bigint, bigint) IS
	'patterns that differ between two kept versions of a dictionary (the second by default: the current one), for its owner only';

CREATE FUNCTION acdat.preview(name text, query text, source regclass, source_column name,
	max_rows integer DEFAULT 1000,
	OUT value text, OUT matches_now text[], OUT matches_then text[])
	RETURNS SETOF record VOLATILE PARALLEL UNSAFE
	LANGUAGE plpgsql
AS $function$
DECLARE
	-- the search path is the caller's, for that is what the query is run with
	words constant text := 'SELECT ARRAY(SELECT ARRAY(SELECT DISTINCT pg_catalog.substr(t, m.char_pos, m.char_len)'
		' FROM acdat.matches(t, $1, ''leftmost_longest'') m ORDER BY 1)::pg_catalog.text'
		' FROM pg_catalog.unnest($2) WITH ORDINALITY u(t, n) ORDER BY n)';
	texts text[];
	now_found text[];
	then_found text[];
BEGIN
	IF name IS NULL OR query IS NULL OR source IS NULL OR source_column IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'arguments of acdat.preview() must not be null';
	END IF;
	EXECUTE pg_catalog.format('SELECT ARRAY(SELECT t.%I::pg_catalog.text FROM %s t WHERE t.%I IS NOT NULL LIMIT %L)',
		source_column, source, source_column, max_rows) INTO texts;
	IF EXISTS (SELECT FROM acdat.dictionaries d WHERE d.name OPERATOR(pg_catalog.=) preview.name) THEN
		EXECUTE words INTO now_found USING name, texts;
	END IF;
	BEGIN
		-- all of publishing, taken back: what it gives is what a publish gives
		PERFORM acdat.publish(name, query);
		EXECUTE words INTO then_found USING name, texts;
		RAISE SQLSTATE 'ACDAT';
	EXCEPTION WHEN SQLSTATE 'ACDAT' THEN
		-- unless it is the query's own
		IF then_found IS NULL THEN
			RAISE;
		END IF;
	END;
	RETURN QUERY SELECT t.value, coalesce(t.a, '{}')::pg_catalog.text[], t.b::pg_catalog.text[]
		FROM ROWS FROM (pg_catalog.unnest(texts), pg_catalog.unnest(now_found), pg_catalog.unnest(then_found))
			WITH ORDINALITY t(value, a, b, n)
		WHERE coalesce(t.a, '{}') OPERATOR(pg_catalog.<>) t.b ORDER BY t.n;
END
$function$;
COMMENT ON FUNCTION acdat.preview(text, text, regclass, name, integer) IS
	'values of a column whose matches a publish of the query would change, with the texts that match before and after; publishes nothing';

CREATE FUNCTION acdat.export(name text)
	RETURNS bytea STABLE STRICT PARALLEL SAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_export';
COMMENT ON FUNCTION acdat.export(text) IS
	'the compiled dictionary as bytes, for the acdat command or import_machine(); for its owner only, because the patterns are in it';

CREATE FUNCTION acdat.import_machine(image bytea)
	RETURNS acdat.machine IMMUTABLE STRICT PARALLEL SAFE
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_import_machine';
COMMENT ON FUNCTION acdat.import_machine(bytea) IS
	'a machine value from the bytes of export() or of the acdat command, proved harmless';

/* ---- Views ---- */

CREATE FUNCTION acdat.registry_entries(
	OUT database_id oid, OUT dictionary name, OUT dictionary_id uuid,
	OUT version bigint, OUT revision bigint, OUT state text,
	OUT bytes bigint, OUT segment text, OUT mapped_by integer, OUT xid xid,
	OUT error text, OUT cluster boolean, OUT patterns bigint,
	OUT since timestamptz)
	RETURNS SETOF record VOLATILE PARALLEL RESTRICTED
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_registry_entries';
COMMENT ON FUNCTION acdat.registry_entries() IS
	'what shared memory knows of dictionaries; see the view acdat.generations';

CREATE FUNCTION acdat.worker_processes(
	OUT kind text, OUT pid integer, OUT database_id oid, OUT state text,
	OUT since timestamptz, OUT error text)
	RETURNS SETOF record VOLATILE PARALLEL RESTRICTED
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_worker_processes';
COMMENT ON FUNCTION acdat.worker_processes() IS
	'the background processes; see the view acdat.worker';

CREATE VIEW acdat.generations AS
	SELECT b.datname AS database, e.dictionary, e.dictionary_id, e.version,
		e.revision, e.state, e.bytes, e.segment, e.mapped_by, e.xid, e.error,
		e.cluster, e.patterns, e.since
	FROM acdat.registry_entries() e
	LEFT JOIN pg_catalog.pg_database b ON b.oid OPERATOR(pg_catalog.=) e.database_id;
COMMENT ON VIEW acdat.generations IS
	'states of dictionaries in shared memory, of the whole cluster, with the machine, its segment and the number of processes that map it';

CREATE VIEW acdat.worker AS
	SELECT w.kind, w.pid, b.datname AS database, w.state, w.since, w.error
	FROM acdat.worker_processes() w
	LEFT JOIN pg_catalog.pg_database b ON b.oid OPERATOR(pg_catalog.=) w.database_id;
COMMENT ON VIEW acdat.worker IS
	'the launcher, loaders and compile jobs, running and queued';

CREATE VIEW acdat.dictionaries AS
	SELECT d.name, d.id, d.owner, d.reader, d.cluster, d.version, v.patterns,
		v.pattern_bytes, v.case_insensitive, v.normalization, v.boundary,
		v.ignore, d.keep_versions, v.published_at, e.bytes, e.state
	FROM acdat.dictionary d
	LEFT JOIN acdat.dictionary_version v
		ON v.dictionary OPERATOR(pg_catalog.=) d.id
		AND v.version OPERATOR(pg_catalog.=) d.version
	LEFT JOIN (
		-- a row that was edited has two states until the former one is freed
		SELECT DISTINCT ON (r.dictionary_id, r.revision) r.*
		FROM acdat.registry_entries() r
		WHERE r.database_id OPERATOR(pg_catalog.=) (SELECT b.oid FROM pg_catalog.pg_database b
				WHERE b.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
			AND r.state OPERATOR(pg_catalog.<>) 'aborted'
		ORDER BY r.dictionary_id, r.revision,
			r.state OPERATOR(pg_catalog.=) 'superseded') e
		ON e.dictionary_id OPERATOR(pg_catalog.=) d.id
		AND e.revision OPERATOR(pg_catalog.=) d.revision;
COMMENT ON VIEW acdat.dictionaries IS
	'dictionaries of this database with their options and the state of the current version';

CREATE VIEW acdat.versions AS
	SELECT d.name, v.version,
		v.version OPERATOR(pg_catalog.=) d.version AS current,
		v.publisher, v.published_at, v.patterns, v.pattern_bytes,
		v.case_insensitive, v.normalization, v.boundary, v.ignore, v.encoding,
		CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_roles r
			WHERE r.rolname OPERATOR(pg_catalog.=) d.owner
			AND pg_catalog.pg_has_role(r.oid, 'USAGE'))
			THEN v.source END AS source
	FROM acdat.dictionary d
	JOIN acdat.dictionary_version v
		ON v.dictionary OPERATOR(pg_catalog.=) d.id;
COMMENT ON VIEW acdat.versions IS
	'kept versions of the dictionaries of this database; the query is shown to the owner only';

CREATE FUNCTION acdat.republish_requests(
	OUT dictionary_id uuid, OUT state text, OUT changed_at timestamptz,
	OUT due_at timestamptz, OUT ended_at timestamptz, OUT version bigint,
	OUT error text)
	RETURNS SETOF record VOLATILE PARALLEL RESTRICTED
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_republish_requests';
COMMENT ON FUNCTION acdat.republish_requests() IS
	'dictionaries of this database that changes of tables have republished since the server started; see the view acdat.attachments';

CREATE VIEW acdat.attachments AS
	SELECT d.name, d.id AS dictionary_id, t.tgrelid::pg_catalog.regclass AS source,
		a.delay AS debounce,
		CASE WHEN t.tgenabled OPERATOR(pg_catalog.=) 'D' THEN 'disabled'
			ELSE coalesce(r.state, 'current') END AS state,
		r.changed_at, r.due_at, r.ended_at, r.version, r.error
	FROM pg_catalog.pg_trigger t
	CROSS JOIN LATERAL (SELECT
		pg_catalog.string_to_array(pg_catalog.encode(t.tgargs, 'escape'), E'\\000') AS args) s
	CROSS JOIN LATERAL (SELECT s.args[1]::pg_catalog.uuid AS id,
		pg_catalog.make_interval(secs => s.args[2]::pg_catalog.float8
			OPERATOR(pg_catalog./) 1000) AS delay) a
	JOIN acdat.dictionary d ON d.id OPERATOR(pg_catalog.=) a.id
	LEFT JOIN acdat.republish_requests() r
		ON r.dictionary_id OPERATOR(pg_catalog.=) a.id
	WHERE t.tgfoid OPERATOR(pg_catalog.=) 'acdat.attached_change()'::pg_catalog.regprocedure;
COMMENT ON VIEW acdat.attachments IS
	'tables that dictionaries are attached to, and how the republishing stands; the error is shown to the owner only';

CREATE FUNCTION acdat.scan_counters(
	OUT database_id oid, OUT dictionary name, OUT dictionary_id uuid,
	OUT calls bigint, OUT bytes bigint, OUT matches bigint,
	OUT untracked_hits bigint, OUT stats_reset timestamptz)
	RETURNS SETOF record VOLATILE PARALLEL RESTRICTED
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_scan_counters';
COMMENT ON FUNCTION acdat.scan_counters() IS
	'how much dictionaries are scanned with; see the view acdat.stats';

CREATE VIEW acdat.stats AS
	SELECT b.datname AS database, s.dictionary, s.dictionary_id, s.calls,
		s.bytes, s.matches, s.untracked_hits, s.stats_reset
	FROM acdat.scan_counters() s
	LEFT JOIN pg_catalog.pg_database b ON b.oid OPERATOR(pg_catalog.=) s.database_id;
COMMENT ON VIEW acdat.stats IS
	'calls, bytes and matches of each dictionary of the cluster since stats_reset; lost when the server restarts';
COMMENT ON COLUMN acdat.stats.calls IS 'values that scanning functions, triggers and the server log were given';
COMMENT ON COLUMN acdat.stats.bytes IS 'length of these values, also where a scan ended early';
COMMENT ON COLUMN acdat.stats.matches IS 'matches that functions found; one for contains() that is true';
COMMENT ON COLUMN acdat.stats.untracked_hits IS
	'hits that acdat.pattern_hits has no more: acdat_bgw.max_tracked_patterns has no room for their patterns';
COMMENT ON COLUMN acdat.stats.stats_reset IS 'when counting began: the dictionary was first loaded, or acdat.stats_reset()';

CREATE FUNCTION acdat.pattern_hit_counters(
	OUT database_id oid, OUT dictionary name, OUT dictionary_id uuid,
	OUT pattern_id bigint, OUT hits bigint)
	RETURNS SETOF record VOLATILE PARALLEL RESTRICTED
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_pattern_hit_counters';
COMMENT ON FUNCTION acdat.pattern_hit_counters() IS
	'how often patterns matched; see the view acdat.pattern_hits';

CREATE VIEW acdat.pattern_hits AS
	SELECT b.datname AS database, h.dictionary, h.dictionary_id, h.pattern_id, h.hits
	FROM acdat.pattern_hit_counters() h
	LEFT JOIN pg_catalog.pg_database b ON b.oid OPERATOR(pg_catalog.=) h.database_id
	ORDER BY h.hits DESC, h.pattern_id;
COMMENT ON VIEW acdat.pattern_hits IS
	'the patterns that matched most, while acdat_bgw.track_hits was on: of own dictionaries, of all for members of pg_read_all_stats';
COMMENT ON COLUMN acdat.pattern_hits.pattern_id IS 'id the pattern was published with, as matches() reports it';
COMMENT ON COLUMN acdat.pattern_hits.hits IS
	'matches that functions found of it; of contains() the first one, of redact() the one that a union of matches is named after';

CREATE FUNCTION acdat.stats_reset(name text DEFAULT NULL)
	RETURNS void VOLATILE PARALLEL RESTRICTED
	LANGUAGE C AS 'MODULE_PATHNAME', 'acdat_stats_reset';
COMMENT ON FUNCTION acdat.stats_reset(text) IS
	'begin to count anew in acdat.stats and acdat.pattern_hits, for a dictionary or all in the cluster that the caller owns';

GRANT USAGE ON SCHEMA acdat TO PUBLIC;
GRANT SELECT ON acdat.generations, acdat.worker, acdat.dictionaries, acdat.versions,
	acdat.attachments, acdat.stats, acdat.pattern_hits TO PUBLIC;
