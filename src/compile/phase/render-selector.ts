import type { LabelRequirement, LabelSelector } from '../../util/label-selector.ts';
import { isLabelKey, isLabelValue } from '../../util/label-syntax.ts';
import { readRequirements, shapeOfSelector } from '../analysis/selector-shape.ts';
import type { DefinitionParts, SelectorParts } from '../definition-parts.ts';
import type { Scope } from '../language/index.ts';
import type { SlotOptions } from '../template/evaluate-slots.ts';
import { describeFound } from '../template/found-value.ts';
import { render } from '../template/render.ts';
import { RenderError } from '../template/render-error.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { then } from '../template/then.ts';

/** Renders a selector (RenderError, also as a rejection): what is missing or wrong in it would select more than is meant. */
export type RenderSelector = (scope: Scope) => LabelSelector | Promise<LabelSelector>;

export interface RenderSelectorOptions {
  readonly vars: DefinitionParts['vars'];
  /** May messages quote values? */
  readonly quotes: boolean;
}

export function createRenderSelector(
  selector: SelectorParts | undefined,
  { vars, quotes }: RenderSelectorOptions,
): RenderSelector {
  const { matchLabels, matchExpressions } = selector ?? {};
  const { labels } = shapeOfSelector(selector ?? {}, vars);
  const keys = [...(labels?.keys() ?? [])];
  const place = (matchLabels ?? matchExpressions)?.place;
  return (scope) => {
    const options = { scope, quotes, isStrict: true };
    return then(renderLabels(matchLabels, keys, options), (pairs) =>
      then(renderRequirements(matchExpressions, options), (requirements) => {
        if (place !== undefined && Object.keys(pairs).length + requirements.length === 0) {
          const message = 'Expected a selector that selects something, found an empty one';
          throw new RenderError('missing-value', message, place);
        }
        return { matchLabels: pairs, matchExpressions: requirements };
      }),
    );
  };
}

type Labels = Readonly<Record<string, string>>;

function renderLabels(
  template: CompiledTemplate | undefined,
  keys: readonly string[],
  options: SlotOptions,
): Labels | Promise<Labels> {
  if (template === undefined) return {};
  return then(render(template, options), (value) => {
    const labels = (value ?? {}) as Readonly<Record<string, unknown>>;
    // A var leaves out what is missing in it.
    const missing = keys.find((key) => !Object.hasOwn(labels, key));
    if (missing !== undefined) {
      const message = `Missing value of the label "${missing}"`;
      throw new RenderError('missing-value', message, template.place);
    }
    for (const [key, label] of Object.entries(labels)) {
      if (!isLabelKey(key)) throw unexpected('the key of a label', key, { template, options });
      if (typeof label === 'string' && isLabelValue(label)) continue;
      const which = options.quotes ? `the label "${key}"` : 'a label';
      throw unexpected(`the value of ${which}`, label, { template, options });
    }
    return labels as Labels;
  });
}

function renderRequirements(
  template: CompiledTemplate | undefined,
  options: SlotOptions,
): readonly LabelRequirement[] | Promise<readonly LabelRequirement[]> {
  if (template === undefined) return [];
  return then(render(template, options), (value) => {
    const requirements = readRequirements(value);
    if (requirements !== undefined) return requirements;
    const expected = 'requirements with key, operator and values';
    throw unexpected(expected, value, { template, options });
  });
}

interface Context {
  readonly template: CompiledTemplate;
  readonly options: SlotOptions;
}

function unexpected(expected: string, value: unknown, { template, options }: Context): RenderError {
  const { place } = template;
  const found = describeFound(value, options.quotes);
  return new RenderError(
    'wrong-type',
    `Expected ${expected} at ${place.field}, found ${found}`,
    place,
  );
}
