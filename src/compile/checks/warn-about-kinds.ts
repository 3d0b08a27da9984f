import type { OperatorDefinition } from '../../definition/index.ts';
import { didYouMean } from '../../util/did-you-mean.ts';
import { apiVersionOf, type Gvk, gvkKey } from '../../util/gvk.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { bundledKinds } from '../schema/index.ts';
import type { SchemaSource } from '../schema-source.ts';

export interface KindsOptions {
  readonly parts: DefinitionParts;
  readonly definition: OperatorDefinition;
  readonly schemas: SchemaSource | undefined;
  readonly diagnostics: Diagnostics;
}

/** A kind of Kubernetes' own that is nearly spelt right: nobody else would serve it under that `apiVersion`. */
export function warnAboutKinds({ parts, definition, schemas, diagnostics }: KindsOptions): void {
  for (const { gvk, pointer } of kindsIn(parts, definition)) {
    const known = bundledKinds(apiVersionOf(gvk));
    if (known.includes(gvk.kind) || schemas?.schemaFor(gvk) !== undefined) continue;
    const hint = didYouMean(gvk.kind, known);
    if (hint === undefined) continue;
    diagnostics.report({
      severity: 'warning',
      code: 'unknown-name',
      message: `Kubernetes has no kind "${gvk.kind}" in "${apiVersionOf(gvk)}"`,
      hint,
      path: pointerTo(pointer, 'kind'),
    });
  }
}

interface NamedKind {
  readonly gvk: Gvk;
  readonly pointer: string;
}

function* kindsIn(parts: DefinitionParts, { kind }: OperatorDefinition): Iterable<NamedKind> {
  if (kind.source === 'for') yield { gvk: kind.gvk, pointer: '/spec/for' };
  const seen = new Set<string>();
  const named: readonly NamedKind[] = [
    ...parts.reads.map((read) => ({ gvk: read.definition.gvk, pointer: read.pointer })),
    ...parts.children.map(({ definition, template }) => ({
      gvk: definition.gvk,
      pointer: template.pointer,
    })),
  ];
  for (const each of named) {
    if (!seen.has(gvkKey(each.gvk))) yield each;
    seen.add(gvkKey(each.gvk));
  }
}
