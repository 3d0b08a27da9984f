import type { DefinitionParts, ReadParts } from '../definition-parts.ts';
import type { Scope } from '../language/index.ts';
import type { ReadRequest } from '../operator-plan.ts';
import { describeFound } from '../template/found-value.ts';
import { render } from '../template/render.ts';
import { RenderError } from '../template/render-error.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { then } from '../template/then.ts';
import { isObjectName } from './object-name.ts';
import { createRenderPlace } from './read-place.ts';
import { createRenderNamespace } from './render-namespace.ts';
import { createRenderSelector } from './render-selector.ts';

/** Renders what one read asks for; undefined when there is no name. */
export type RenderRequest = (scope: Scope) => MaybeRequest | Promise<MaybeRequest>;
type MaybeRequest = ReadRequest | undefined;

export interface RenderRequestOptions {
  readonly vars: DefinitionParts['vars'];
  /** May messages quote values? */
  readonly quotes: boolean;
}

/** What is missing or wrong in a selector would select more than is meant, so it is an error (RenderError, also as a rejection). */
export function createRenderRequest(read: ReadParts, options: RenderRequestOptions): RenderRequest {
  if (read.name !== undefined) return createByName(read, read.name, options);
  const selector = createRenderSelector(read.selector, options);
  const place = createRenderPlace(read, options);
  return (scope) =>
    then(selector(scope), (rendered) =>
      then(place(scope), (where) => ({ by: 'selector', selector: rendered, place: where })),
    );
}

function createByName(
  read: ReadParts,
  name: CompiledTemplate,
  { quotes }: RenderRequestOptions,
): RenderRequest {
  const { namespace: template } = read;
  const { crossNamespace } = read.definition;
  const namespace = template && createRenderNamespace(template, { crossNamespace, quotes });
  return (scope) =>
    then(render(name, { scope, quotes }), (value) => {
      if (value === undefined) return undefined;
      if (typeof value !== 'string' || !isObjectName(value)) {
        const found = describeFound(value, quotes);
        const message = `Expected the name of an object at ${name.place.field}, found ${found}`;
        throw new RenderError('wrong-type', message, name.place);
      }
      if (namespace === undefined) return { by: 'name', name: value };
      return then(namespace(scope), (where) =>
        where === undefined ? undefined : { by: 'name', name: value, namespace: where },
      );
    });
}
