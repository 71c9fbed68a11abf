/*-------------------------------------------------------------------------
 *
 * scan_support.c
 *	  What the planner may expect of the scanning functions.
 *
 * The work of a call grows with the value it scans, so that the planner must
 * know about widths: to run cheaper conditions first, and to use parallel
 * workers for wide values in few rows.  How often a dictionary matches cannot
 * be known; the guesses here say "seldom", which is what filters are for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "src/pgcompat.h"

PG_FUNCTION_INFO_V1(acdat_scan_support);

/* Bytes scanned in the time of one simple operator, a few nanoseconds each. */
#define BYTES_PER_OPERATOR 16

/* Operators that a call costs beside its scan. */
#define OPERATORS_PER_CALL 4

/* The part of values that contain a pattern, unless more is known. */
#define DEFAULT_CONTAINS_SELECTIVITY 0.05

/* Bytes of text for each match, unless more is known. */
#define BYTES_PER_MATCH 100

/* The width of the value to be scanned, from statistics if there are any. */
static double
value_width(PlannerInfo *root, Node *call)
{
	Node	   *value;
	int32		width = 0;

	if (call == NULL || !IsA(call, FuncExpr) || ((FuncExpr *) call)->args == NIL)
		return get_typavgwidth(TEXTOID, -1);
	value = linitial(((FuncExpr *) call)->args);
	if (IsA(value, RelabelType))
		value = (Node *) ((RelabelType *) value)->arg;
	if (IsA(value, Const) && !((Const *) value)->constisnull)
		return (double) toast_raw_datum_size(((Const *) value)->constvalue);
	if (root != NULL && IsA(value, Var) && ((Var *) value)->varlevelsup == 0)
	{
		Var		   *var = (Var *) value;
		RangeTblEntry *entry = planner_rt_fetch(var->varno, root);

		if (entry->rtekind == RTE_RELATION && var->varattno > 0)
			width = get_attavgwidth(entry->relid, var->varattno);
	}
	if (width <= 0)
		width = get_typavgwidth(exprType(value), exprTypmod(value));
	return width;
}

/* scan_support(internal) returns internal */
Datum
acdat_scan_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestCost))
	{
		SupportRequestCost *cost = (SupportRequestCost *) request;

		cost->startup = 0;
		cost->per_tuple = cpu_operator_cost *
			(OPERATORS_PER_CALL +
			 value_width(cost->root, cost->node) / BYTES_PER_OPERATOR);
		PG_RETURN_POINTER(cost);
	}
	if (IsA(request, SupportRequestRows))
	{
		SupportRequestRows *rows = (SupportRequestRows *) request;

		rows->rows = Max(1.0, value_width(rows->root, rows->node) /
						 BYTES_PER_MATCH);
		PG_RETURN_POINTER(rows);
	}
	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *part = (SupportRequestSelectivity *) request;

		if (part->is_join)
			PG_RETURN_POINTER(NULL);
		part->selectivity = DEFAULT_CONTAINS_SELECTIVITY;
		PG_RETURN_POINTER(part);
	}
	PG_RETURN_POINTER(NULL);
}
