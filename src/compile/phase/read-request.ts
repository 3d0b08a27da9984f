import { isLabelKey, isLabelValue } from '../analysis/label-syntax.ts';
import { readRequirements, shapeOfSelector } from '../analysis/selector-shape.ts';
import type { DefinitionParts, ReadParts } from '../definition-parts.ts';
import type { Scope } from '../language/index.ts';
import type { LabelRequirement, ReadRequest } from '../operator-plan.ts';
import { describeFound } from '../template/found-value.ts';
import { render } from '../template/render.ts';
import { RenderError } from '../template/render-error.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { then } from '../template/then.ts';
import { isObjectName } from './object-name.ts';

/** Renders what one read asks for; undefined when there is no name. */
export type RenderRequest = (scope: Scope) => MaybeRequest | Promise<MaybeRequest>;
type MaybeRequest = ReadRequest | undefined;

export function createRenderRequest(read: ReadParts, vars: DefinitionParts['vars']): RenderRequest {
  const { name, matchLabels, matchExpressions } = read;
  if (name !== undefined) return (scope) => renderName(name, scope);
  const { labels } = shapeOfSelector(read, vars);
  const keys = [...(labels?.keys() ?? [])];
  return (scope) =>
    then(renderLabels(matchLabels, keys, scope), (pairs) =>
      then(renderRequirements(matchExpressions, scope), (requirements) => ({
        by: 'selector',
        selector: { matchLabels: pairs, matchExpressions: requirements },
      })),
    );
}

function renderName(name: CompiledTemplate, scope: Scope): MaybeRequest | Promise<MaybeRequest> {
  return then(render(name, { scope, quotes: true }), (value) => {
    if (value === undefined) return undefined;
    if (typeof value === 'string' && isObjectName(value)) return { by: 'name', name: value };
    throw unexpected('the name of an object', value, name);
  });
}

type Labels = Readonly<Record<string, string>>;

/** A label that is missing would select more than is meant, so it is an error. */
function renderLabels(
  template: CompiledTemplate | undefined,
  keys: readonly string[],
  scope: Scope,
): Labels | Promise<Labels> {
  if (template === undefined) return {};
  return then(render(template, { scope, quotes: true }), (value) => {
    const labels = (value ?? {}) as Readonly<Record<string, unknown>>;
    const missing = keys.find((key) => !Object.hasOwn(labels, key));
    const message = missing === undefined ? undefined : `Missing value of the label "${missing}"`;
    if (message !== undefined) throw new RenderError('missing-value', message, template.place);
    const entries = Object.entries(labels);
    if (value === undefined || (entries.length === 0 && template.root.kind !== 'constant')) {
      throw new RenderError('missing-value', 'Expected labels, found none', template.place);
    }
    for (const [key, label] of entries) {
      if (!isLabelKey(key)) throw unexpected('the key of a label', key, template);
      if (typeof label !== 'string' || !isLabelValue(label)) {
        throw unexpected(`the value of the label "${key}"`, label, template);
      }
    }
    return labels as Labels;
  });
}

function renderRequirements(
  template: CompiledTemplate | undefined,
  scope: Scope,
): readonly LabelRequirement[] | Promise<readonly LabelRequirement[]> {
  if (template === undefined) return [];
  return then(render(template, { scope, quotes: true }), (value) => {
    const requirements = value === undefined ? undefined : readRequirements(value);
    if (requirements === undefined) {
      throw unexpected('requirements with key, operator and values', value, template);
    }
    return requirements;
  });
}

function unexpected(expected: string, value: unknown, { place }: CompiledTemplate): RenderError {
  const message = `Expected ${expected} at ${place.field}, found ${describeFound(value, true)}`;
  return new RenderError('wrong-type', message, place);
}
