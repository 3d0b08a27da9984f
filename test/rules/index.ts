import { admission } from './admission.ts';
import { children } from './children.ts';
import { conversions } from './conversions.ts';
import { history } from './history.ts';
import { httpEndpoints, httpObjects } from './http-objects.ts';
import { installed } from './install.ts';
import { document, kind } from './kind.ts';
import { language, missingValues, types, vars } from './language.ts';
import { again, deletion, reporting } from './passes.ts';
import { placement } from './placement.ts';
import type { RuleSection } from './rule.ts';
import { controller, sources } from './sources.ts';

export type { Rule, RuleSection } from './rule.ts';

/** The rules of `docs/definition/` and of objects behind HTTP, by section, each with its tests. */
export const ruleSections: readonly RuleSection[] = [
  document,
  kind,
  conversions,
  language,
  missingValues,
  types,
  vars,
  history,
  children,
  installed,
  admission,
  placement,
  reporting,
  again,
  deletion,
  controller,
  sources,
  httpEndpoints,
  httpObjects,
];
