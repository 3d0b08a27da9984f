import { compile, type OperatorPlan, type SchemaSource } from '../compile/index.ts';
import {
  arrangeDiagnostics,
  createDefinitionParser,
  type Diagnostic,
  type LocatedDefinition,
  type ParsedDefinitions,
} from '../definition/index.ts';
import type { DefinitionText } from './definition-source.ts';
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
  /** Of two definitions that bring the same CRD: see {@link withoutClashes}. @default 'first' */
  readonly sameCrd?: SameCrd;
}

/** Parses and compiles all texts without touching a cluster, and collects every mistake. Pure. */
export function checkDefinitions(
  texts: readonly DefinitionText[],
  { schemas, sameCrd = 'first' }: CheckOptions,
): CheckResult {
  const diagnostics: Diagnostic[] = [];
  const refused: string[] = [];
  const broken: LocatedDefinition[] = [];
  const compiled: CheckedDefinition[] = [];
  const parser = createDefinitionParser();
  const options = schemas === undefined ? {} : { schemas };
  for (const { file, text } of texts) {
    const parsed = parser.parse(text, file);
    diagnostics.push(...parsed.diagnostics);
    if (isEmpty(parsed)) diagnostics.push(nothingIn(file));
    // Refused already, and never run: only so that all mistakes are told at once.
    for (const draft of parsed.drafts) {
      diagnostics.push(...compile(draft, options).diagnostics);
      refused.push(file);
      broken.push(draft);
    }
    for (const located of parsed.definitions) {
      const result = compile(located, options);
      diagnostics.push(...result.diagnostics);
      if (result.plan === undefined) {
        refused.push(file);
        broken.push(located);
      } else compiled.push({ located, plan: result.plan });
    }
  }
  const { accepted, clashes } = withoutClashes(compiled, sameCrd);
  const arranged = arrangeDiagnostics([...diagnostics, ...clashes]);
  const lost = compiled.filter((each) => !accepted.includes(each));
  refused.push(...lost.map(({ located }) => located.source.file));
  return { accepted, diagnostics: arranged, refused: refusedFiles(arranged, refused), broken };
}

function isEmpty({ definitions, diagnostics }: ParsedDefinitions): boolean {
  return definitions.length === 0 && diagnostics.length === 0;
}

/** A warning only: an empty file beside good ones is no reason to refuse anything. */
function nothingIn(file: string): Diagnostic {
  const message = 'Expected a definition, found nothing';
  return {
    severity: 'warning',
    code: 'missing-field',
    message,
    file,
    line: 1,
    column: 1,
    path: '',
  };
}
