import { gvkKey } from '../../util/gvk.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { DefinitionParts, ReadParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { OperatorPlan } from '../operator-plan.ts';
import type { SchemaSource } from '../schema-source.ts';

export interface ReadScopeOptions {
  readonly parts: DefinitionParts;
  /** Of the resource. */
  readonly scope: OperatorPlan['scope'];
  readonly schemas: SchemaSource | undefined;
  readonly diagnostics: Diagnostics;
}

/** A namespaced kind is read from a namespace, another one from none. */
export function checkReadScope({ parts, scope, schemas, diagnostics }: ReadScopeOptions): void {
  for (const { definition, pointer } of parts.reads) {
    const { gvk, from } = definition;
    const isNamespaced = schemas?.isNamespaced(gvk);
    if (isNamespaced === undefined) continue;
    const kind = gvkKey(gvk);
    if (!isNamespaced && from.kind !== 'own') {
      const path = pointerTo(pointer, namesOf[from.kind]);
      const message = `Objects of the cluster-scoped kind "${kind}" have no namespace`;
      diagnostics.report({ code: 'invalid-value', message, path, at: 'key', hint: 'Leave it out' });
    } else if (isNamespaced && from.kind === 'own' && scope === 'Cluster') {
      diagnostics.report({
        code: 'missing-field',
        message: `The resource has no namespace, so that a read of kind "${kind}" must name one`,
        path: pointerTo(pointer, 'namespace'),
        at: 'parent-key',
        hint: 'Write "namespace", "namespaces" or "namespaceSelector"',
      });
    }
  }
}

const namesOf: Readonly<Record<Exclude<ReadParts['definition']['from']['kind'], 'own'>, string>> = {
  one: 'namespace',
  list: 'namespaces',
  selector: 'namespaceSelector',
};
