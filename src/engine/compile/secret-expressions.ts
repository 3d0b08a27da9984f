import type { LocatedDefinition } from '#definition';
import { createDependencyFinder } from './analysis/dependencies.ts';
import { traceSecrets } from './analysis/secret-flow.ts';
import { compileDefinition } from './compiled-templates.ts';
import { createDiagnostics } from './diagnostics.ts';
import { createDefaultLeafParser } from './plain-expressions.ts';
import { createKindTypes } from './schema-source.ts';
import { templateUses } from './template-uses.ts';

/**
 * Whether `forEach` of a child reads a value that may come from a Secret. A text, a number or a test that is computed from such a value
 * counts, too: a reader who chooses the expression finds the value by comparing. Pure.
 * @param located a definition that compiles without errors
 */
export function listReadsSecret(located: LocatedDefinition, childId: string): boolean {
  const { definition, document, source } = located;
  const diagnostics = createDiagnostics(source);
  const types = createKindTypes(definition, undefined);
  const parser = createDefaultLeafParser();
  const parts = compileDefinition({ located, types, parser, diagnostics, coverage: undefined });
  const context = {
    definition,
    document,
    parts,
    types,
    diagnostics,
    templates: templateUses(parts),
    uses: createDependencyFinder(parts),
    scope: undefined,
    schemas: undefined,
  };
  const child = parts.children.find((each) => each.definition.id === childId);
  return traceSecrets(context, { into: 'messages' }).reaches([child?.forEach], { childId });
}
