import type { CrossNamespace } from '../../definition/index.ts';
import { matchesGlob } from '../../util/glob.ts';
import type { Scope } from '../language/index.ts';
import { describeFound } from '../template/found-value.ts';
import { render } from '../template/render.ts';
import { type Place, RenderError } from '../template/render-error.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { then } from '../template/then.ts';

export interface NamespaceRules {
  readonly crossNamespace: CrossNamespace;
  /** May messages quote values? */
  readonly quotes: boolean;
}

type MaybeText = string | undefined;

/** Renders the name of a namespace; undefined when there is none. RenderError, also as a rejection, for one that may not be. */
export function createRenderNamespace(
  template: CompiledTemplate,
  rules: NamespaceRules,
): (scope: Scope) => MaybeText | Promise<MaybeText> {
  const { quotes } = rules;
  return (scope) =>
    then(render(template, { scope, quotes }), (value) =>
      value === undefined
        ? undefined
        : allowedNamespace(value, { ...rules, place: template.place, scope }),
    );
}

export interface NamespaceCheck extends NamespaceRules {
  readonly place: Place;
  readonly scope: Scope;
}

/** The value, if it is a namespace that may be looked into. @throws RenderError */
export function allowedNamespace(value: unknown, check: NamespaceCheck): string {
  const { crossNamespace, quotes, place, scope } = check;
  if (typeof value !== 'string' || !/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(value)) {
    const found = describeFound(value, quotes);
    throw wrong(`Expected the name of a namespace at ${place.field}, found ${found}`, place);
  }
  const own = (scope.self as { readonly metadata?: { readonly namespace?: string } }).metadata
    ?.namespace;
  if (value === own || typeof crossNamespace === 'boolean') return value;
  if (matchesGlob(value, crossNamespace.namespaces)) return value;
  const found = describeFound(value, quotes);
  throw wrong(
    `Expected a namespace that "crossNamespace" allows at ${place.field}, found ${found}`,
    place,
  );
}

function wrong(message: string, place: Place): RenderError {
  return new RenderError('wrong-type', message, place);
}
