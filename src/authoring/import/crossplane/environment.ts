import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { literalExpression } from '../cel/jsonata.ts';
import { childId } from '../convert/child-id.ts';
import type { ImportReport } from '../import-report.ts';
import { expressionText } from '../template-text.ts';
import { type Composite, compositeValue } from './composite.ts';
import { jsonataPath, type PathStep, parseFieldPath } from './field-path.ts';
import { guarded, pathValue, type Value } from './value.ts';

/** The environment of a Composition: data of EnvironmentConfigs, and values that patches write. */
export class Environment {
  /** Reads of the definition. */
  readonly reads: JsonObject[] = [];
  readonly #written: { readonly steps: readonly PathStep[]; readonly value: Value }[] = [];
  readonly #apiVersion: string;
  #sources: readonly string[] = [];
  #isUsed = false;

  /** `apiVersion` is that of the EnvironmentConfigs. */
  constructor(apiVersion: string) {
    this.#apiVersion = apiVersion;
  }

  /** Reads the settings of `spec.environment`, or of function-environment-configs. */
  configure(
    { settings, pointer }: { readonly settings: JsonObject; readonly pointer: string },
    composite: Composite,
    report: ImportReport,
  ): void {
    const { defaultData, environmentConfigs, policy } = settings;
    const defaults = isJsonObject(defaultData) ? [literalExpression(defaultData)] : [];
    const isOptional = isJsonObject(policy) && policy.resolution === 'Optional';
    const configs = Array.isArray(environmentConfigs) ? environmentConfigs : [];
    const sources = configs.flatMap((config: Json, index) => {
      const place = {
        name: `environmentConfigs[${index}]`,
        pointer: `${pointer}/environmentConfigs/${index}`,
      };
      const read = isJsonObject(config) ? readOf(config, composite) : 'A config is a map';
      if (typeof read === 'string') {
        report.leftOut(place, read);
        return [];
      }
      const taken = new Set(this.reads.map(({ id }) => String(id)));
      const id = childId(String(read.name ?? 'environment').replaceAll(/\$\{.*?\}/g, ''), taken);
      const isList = read.selector !== undefined;
      const { isMultiple, ...fields } = read;
      this.reads.push({
        id,
        apiVersion: this.#apiVersion,
        kind: 'EnvironmentConfig',
        ...(fields as JsonObject),
        ...(isOptional && !isList && { optional: true }),
      });
      const isMany = configs.length + defaults.length > 1 || isMultiple === true;
      report.converted(place, isMany ? ['only the first level of the data is merged'] : []);
      if (isMultiple === true) return [`$merge(reads.${id}.data)`];
      return [`reads.${id}${isList ? '[0]' : ''}.data`];
    });
    this.#sources = [...defaults, ...sources];
  }

  /** A value that a patch writes. */
  write(steps: readonly PathStep[], value: Value): void {
    this.#written.unshift({ steps, value });
  }

  /** A field of the environment. Undefined: it never has a value. */
  valueAt(steps: readonly PathStep[]): Value | undefined {
    const configured = this.#configured(steps);
    const written = this.#written.find(({ steps: at }) =>
      at.every((each, index) => each === steps[index]),
    );
    if (written === undefined) return configured;
    const { value } = written;
    const rest = steps.slice(written.steps.length);
    if (rest.length > 0) {
      const below = jsonataPath(['', ...rest]).replace(/^``/, '');
      return pathValue(`${value.text}${below}`, false);
    }
    if (value.needs.length === 0 || configured === undefined) return value;
    const either = `(${guarded(value, configured.text).text})`;
    return pathValue(either, false);
  }

  /** `vars` of the definition. */
  get vars(): JsonObject {
    if (!this.#isUsed || this.#sources.length < 2) return {};
    return { environment: expressionText(`$merge([${this.#sources.join(', ')}])`) };
  }

  #configured(steps: readonly PathStep[]): Value | undefined {
    const [only] = this.#sources;
    if (only === undefined) return undefined;
    this.#isUsed = true;
    const root = this.#sources.length === 1 ? only : 'vars.environment';
    return pathValue(`${root}.${jsonataPath(steps)}`, false);
  }
}

/** The read of one EnvironmentConfig, or why there is none. */
function readOf(config: JsonObject, composite: Composite): JsonObject | string {
  const { type = 'Reference', ref, selector } = config;
  if (type === 'Reference')
    return isJsonObject(ref) ? { name: String(ref.name) } : 'The reference has no name';
  const { mode = 'Single', matchLabels } = isJsonObject(selector) ? selector : {};
  const labels = (Array.isArray(matchLabels) ? matchLabels : []).filter(isJsonObject);
  const entries = labels.map((each) => [String(each.key), labelValue(each, composite)] as const);
  if (entries.length === 0 || entries.some(([, value]) => value === undefined))
    return 'The selector needs labels whose values are literals or fields of the resource';
  return {
    selector: { matchLabels: Object.fromEntries(entries) },
    ...(mode === 'Multiple' && { isMultiple: true }),
  };
}

function labelValue(
  { type = 'FromCompositeFieldPath', value, valueFromFieldPath }: JsonObject,
  composite: Composite,
): Json | undefined {
  if (type === 'Value') return value;
  const steps = parseFieldPath(String(valueFromFieldPath));
  const found = steps && compositeValue(steps, composite);
  return found && expressionText(found.text);
}
