import { labelSelectorForms, requirementsOfAny } from '#util/any-label-selector.ts';
import {
  isLabelKey,
  isLabelValue,
  type LabelRequirement,
  type LabelSelector,
} from '#util/label-selector.ts';
import { readRequirements, shapeOfSelector } from '../analysis/selector-shape.ts';
import type { CompiledSelector, CompiledTemplates } from '../compiled-templates.ts';
import type { Scope } from '../language/index.ts';
import type { MissingHandler, SlotOptions } from '../template/evaluate-slots.ts';
import { render } from '../template/render.ts';
import { type Place, RenderError } from '../template/render-error.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { describeFound } from '../template/values.ts';

/** Renders a selector. A missing or invalid part is a RenderError, because it would select too many objects. */
type RenderSelector = (scope: Scope, missing?: MissingHandler) => Promise<LabelSelector>;

/** Every object, and every event of it, is compared with the selectors of all resources: users who create one cannot make that slow. */
const limits = { requirements: 100, values: 1_000, characters: 65_536 } as const;

export interface RenderSelectorOptions {
  readonly vars: CompiledTemplates['vars'];
  /** May messages quote values? */
  readonly quotes: boolean;
}

export function createRenderSelector(
  selector: CompiledSelector | undefined,
  { vars, quotes }: RenderSelectorOptions,
): RenderSelector {
  const { matchLabels, matchExpressions } = selector ?? {};
  const { labels } = shapeOfSelector(selector ?? {}, vars);
  const keys = [...(labels?.keys() ?? [])];
  const place = (matchLabels ?? matchExpressions)?.place;
  return async (scope, missing) => {
    const options = { scope, quotes, isStrict: true, ...(missing && { missing }) };
    const pairs = await renderLabels(matchLabels, keys, options);
    const requirements = await renderRequirements(matchExpressions, options);
    if (place !== undefined && Object.keys(pairs).length + requirements.length === 0) {
      const message = 'Expected a selector with at least one requirement, found an empty one';
      throw new RenderError('missing-value', message, place);
    }
    const rendered = { matchLabels: pairs, matchExpressions: requirements };
    if (place !== undefined) assertSmall(rendered, place);
    return rendered;
  };
}

/**
 * Renders a selector that one expression returns, as an object or a text. As in Kubernetes, an empty one selects everything, and none
 * selects nothing.
 */
export function createRenderWhole(
  template: CompiledTemplate,
  { quotes }: Pick<RenderSelectorOptions, 'quotes'>,
): (scope: Scope, missing?: MissingHandler) => Promise<LabelSelector | 'none'> {
  const { place } = template;
  return async (scope, missing) => {
    const options = { scope, quotes, ...(missing && { missing: withoutFailures(missing) }) };
    const value = await render(template, options);
    if (value === undefined) return 'none';
    if (typeof value === 'string' && value.length > limits.characters)
      throw tooLarge(`a text of at most ${limits.characters} characters`, value.length, place);
    const matchExpressions = requirementsOfAny(value);
    if (matchExpressions === undefined)
      throw unexpected(labelSelectorForms, value, { template, options });
    const rendered = { matchLabels: {}, matchExpressions };
    assertSmall(rendered, place);
    return rendered;
  };
}

/** A selector that other objects may still get is waited for; that of an absent part selects nothing. */
function withoutFailures(missing: MissingHandler): MissingHandler {
  return {
    ...missing,
    async evaluated(slot, value) {
      try {
        await missing.evaluated(slot, value);
      } catch (error) {
        if (!(error instanceof RenderError)) throw error;
      }
    },
  };
}

/** @throws RenderError */
function assertSmall({ matchLabels, matchExpressions }: LabelSelector, place: Place): void {
  const requirements = Object.keys(matchLabels).length + matchExpressions.length;
  if (requirements > limits.requirements)
    throw tooLarge(`at most ${limits.requirements} requirements`, requirements, place);
  const values = matchExpressions.reduce((sum, each) => sum + each.values.length, 0);
  if (values > limits.values) throw tooLarge(`at most ${limits.values} values`, values, place);
}

function tooLarge(expected: string, found: number, place: Place): RenderError {
  const message = `Expected ${expected} at ${place.field}, found "${found}"`;
  return new RenderError('limit-reached', message, place);
}

type Labels = Readonly<Record<string, string>>;

async function renderLabels(
  template: CompiledTemplate | undefined,
  keys: readonly string[],
  options: SlotOptions,
): Promise<Labels> {
  if (template === undefined) return {};
  const labels = ((await render(template, options)) ?? {}) as Readonly<Record<string, unknown>>;
  // A var omits missing fields.
  const missing = keys.find((key) => !Object.hasOwn(labels, key));
  if (missing !== undefined) {
    const message = `Missing value for label "${missing}"`;
    throw new RenderError('missing-value', message, template.place);
  }
  for (const [key, label] of Object.entries(labels)) {
    if (!isLabelKey(key)) throw unexpected('a label key', key, { template, options });
    if (typeof label === 'string' && isLabelValue(label)) continue;
    const which = options.quotes ? `label "${key}"` : 'a label';
    throw unexpected(`a valid value of ${which}`, label, { template, options });
  }
  return labels as Labels;
}

async function renderRequirements(
  template: CompiledTemplate | undefined,
  options: SlotOptions,
): Promise<readonly LabelRequirement[]> {
  if (template === undefined) return [];
  const value = await render(template, options);
  const requirements = readRequirements(value);
  if (requirements !== undefined) return requirements;
  const expected = 'requirements with key, operator and values';
  throw unexpected(expected, value, { template, options });
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
