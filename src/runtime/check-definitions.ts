import type { OperatorPlan, SchemaSource } from '../compile/index.ts';
import {
  arrangeDiagnostics,
  type Diagnostic,
  type LocatedDefinition,
} from '../definition/index.ts';
import { createTextCheck, type TextCheck } from './check-text.ts';
import type { DefinitionText } from './definition-text.ts';
import { type RefusedFile, refusedFiles } from './refused-file.ts';
import { type SameCrd, withoutClashes } from './without-clashes.ts';

/** A definition that compiles, with the plan of the schemas it was checked against. */
export interface CheckedDefinition {
  readonly located: LocatedDefinition;
  readonly plan: OperatorPlan;
}

export interface CheckResult {
  /** Each is accepted or refused by itself. */
  readonly accepted: readonly CheckedDefinition[];
  readonly diagnostics: readonly Diagnostic[];
  /** Whatever is not accepted, by file. */
  readonly refused: readonly RefusedFile[];
  /** Those of them with mistakes of which at least name and kind can be told: what is being deleted must not wait for them. */
  readonly broken: readonly LocatedDefinition[];
}

export interface CheckOptions {
  /** Undefined: nothing is known of other kinds. */
  readonly schemas: SchemaSource | undefined;
  /** @default one of its own, with the schemas */
  readonly check?: TextCheck;
  /** Of two definitions that bring the same CRD: see {@link withoutClashes}. @default 'first' */
  readonly sameCrd?: SameCrd;
}

/** Parses and compiles all texts without touching a cluster, and collects every mistake. Pure. */
export function checkDefinitions(
  texts: readonly DefinitionText[],
  { schemas, check = createTextCheck(schemas), sameCrd = 'first' }: CheckOptions,
): CheckResult {
  const diagnostics: Diagnostic[] = [];
  const refused: string[] = [];
  const broken: LocatedDefinition[] = [];
  const compiled: CheckedDefinition[] = [];
  for (const text of texts) {
    const checked = check(text);
    diagnostics.push(...checked.diagnostics);
    for (const { located, plan, isAccepted } of checked.documents) {
      if (located === undefined) continue;
      if (plan !== undefined) compiled.push({ located, plan });
      else if (!isAccepted) {
        refused.push(text.file);
        broken.push(located);
      }
    }
  }
  const { accepted, clashes } = withoutClashes(compiled, sameCrd);
  const arranged = arrangeDiagnostics([...diagnostics, ...clashes]);
  const lost = compiled.filter((each) => !accepted.includes(each));
  refused.push(...lost.map(({ located }) => located.source.file));
  return { accepted, diagnostics: arranged, refused: refusedFiles(arranged, refused), broken };
}
