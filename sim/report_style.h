/* SPDX-License-Identifier: ISC */
#ifndef REPORT_STYLE_H
#define REPORT_STYLE_H

/* The page's style, its script (which begins with what the page knows), and how
   the diagram is read; as they stand in the page.  NULL ends each. */
extern const char *const report_style[];
extern const char *const report_script[];
extern const char *const report_legend[];

/* Marks, hatches and heads of arrows, which diagrams use by their ids. */
extern const char report_shapes[];

#endif
