import type { CheckedDefinition } from '#check';
import { bundledSchemas, explainDefinition } from '#compile';
import { DefinitionValidator } from '#testing';
import { apiVersionOf, type Gvk } from '#util/gvk.ts';
import type { CompiledDefinition, CompileResult, Definitions } from './api.ts';
import { sourcesOf } from './source-files.ts';

/** Checks definitions as `homeostat validate`, and explains them as `homeostat explain`. */
export function compileDefinitions(definitions: Definitions): CompileResult {
  const validator = new DefinitionValidator();
  const { accepted, diagnostics } = validator.validate(sourcesOf(definitions));
  validator.close();
  return { definitions: accepted.map(compiledDefinition), diagnostics };
}

function compiledDefinition({ located, plan }: CheckedDefinition): CompiledDefinition {
  const { kind } = located.definition;
  const { reads, children, reports } = explainDefinition(located, bundledSchemas());
  return {
    name: plan.name,
    file: located.source.file,
    revision: plan.revision,
    ...kindOf(kind.gvk),
    ...(kind.source === 'crd' && { crd: kind.crd }),
    reads: reads.map(({ gvk, ...read }) => ({ ...kindOf(gvk), ...read })),
    children: children.map(({ gvk, name, when, forEach, expressions: _, ...child }) => ({
      ...kindOf(gvk),
      ...child,
      ...(name !== undefined && { name }),
      ...(when !== undefined && { when }),
      ...(forEach !== undefined && { forEach }),
    })),
    reports,
  };
}

function kindOf(gvk: Gvk) {
  return { apiVersion: apiVersionOf(gvk), kind: gvk.kind };
}
