import type { CrossNamespace } from '../../definition/index.ts';
import type { DefinitionParts, ReadParts } from '../definition-parts.ts';
import type { Scope } from '../language/index.ts';
import type { ReadPlace } from '../operator-plan.ts';
import { then } from '../template/then.ts';
import { createForEach } from './for-each.ts';
import { allowedNamespace, createRenderNamespace } from './render-namespace.ts';
import { createRenderSelector } from './render-selector.ts';

export interface RenderPlaceOptions {
  readonly vars: DefinitionParts['vars'];
  /** May messages quote values? */
  readonly quotes: boolean;
}

/** Renders where a list is read from. RenderError, also as a rejection: a missing namespace is never taken for "none". */
export type RenderPlace = (scope: Scope) => ReadPlace | Promise<ReadPlace>;

const own: ReadPlace = Object.freeze({ kind: 'own' });

export function createRenderPlace(read: ReadParts, options: RenderPlaceOptions): RenderPlace {
  const { from, crossNamespace } = read.definition;
  switch (from.kind) {
    case 'own':
      return () => own;
    case 'one':
      return createOne(read, options);
    case 'list':
      return createList(read, options);
    case 'selector': {
      const render = createRenderSelector(read.namespaceSelector, options);
      return (scope) =>
        then(render(scope), (selector) => ({
          kind: 'selected',
          selector,
          ...allowedBy(crossNamespace),
        }));
    }
  }
}

function createOne(read: ReadParts, { vars, quotes }: RenderPlaceOptions): RenderPlace {
  const { namespace: template, definition } = read;
  if (template === undefined) return () => own;
  // As in a list of one: a missing value is told, with the path that is missing.
  const list = createForEach(template, vars);
  const render = createRenderNamespace(template, { ...definition, quotes });
  return (scope) =>
    then(list.elements(scope), () =>
      then(render(scope), (namespace) =>
        namespace === undefined ? own : { kind: 'named', namespaces: [namespace] },
      ),
    );
}

function createList(read: ReadParts, { vars, quotes }: RenderPlaceOptions): RenderPlace {
  const { namespaces: template, definition } = read;
  const { crossNamespace } = definition;
  const everywhere: ReadPlace = { kind: 'all', ...allowedBy(crossNamespace) };
  if (template === undefined) return () => everywhere;
  const list = createForEach(template, vars);
  const { place } = template;
  return (scope) =>
    then(list.elements(scope), (elements) => {
      const names = elements.map(({ item }) =>
        allowedNamespace(item, { crossNamespace, quotes, place, scope }),
      );
      return { kind: 'named', namespaces: [...new Set(names)].sort() };
    });
}

function allowedBy(crossNamespace: CrossNamespace): { readonly allowed?: readonly string[] } {
  return typeof crossNamespace === 'boolean' ? {} : { allowed: crossNamespace.namespaces };
}
