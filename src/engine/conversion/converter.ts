import type { JsonObject } from '#util/json.ts';
import type { ConversionRules } from './conversion-rules.ts';

export interface ConverterOptions {
  readonly rules: ConversionRules;
  /** The `openAPIV3Schema` of each version of the kind. */
  readonly schemas: ReadonlyMap<string, JsonObject>;
  readonly yaml: YamlText;
}

/** YAML as the converter reads and writes it: this room imports no library. */
export interface YamlText {
  /** @throws any error for a text that is no YAML */
  parse(text: string): unknown;
  print(value: unknown): string;
}

/** The object in the other version; or why it cannot be converted, one sentence without a period at the end. */
export type Converted =
  | { readonly object: JsonObject; readonly problem?: undefined }
  | { readonly problem: string; readonly object?: undefined };

/** Converts objects of one kind between its versions. Stateless, synchronous; objects are not changed. */
export interface Converter {
  /**
   * The object in version `toVersion` (`v1`), in time linear in its size. Never throws. There is a problem only for a version that is not
   * known, and for a write of an object whose preserved fields did not fit: reads do not fail.
   */
  convert(object: JsonObject, toVersion: string): Converted;
}

/** A converter between the versions of a kind. Prepares everything that does not depend on an object. */
export function createConverter({ schemas }: ConverterOptions): Converter {
  return {
    convert(object, toVersion) {
      const apiVersion = typeof object.apiVersion === 'string' ? object.apiVersion : '';
      const slash = apiVersion.indexOf('/') + 1;
      for (const version of [apiVersion.slice(slash), toVersion])
        if (!schemas.has(version)) return { problem: `Version "${version}" does not exist` };
      return { object: { ...object, apiVersion: apiVersion.slice(0, slash) + toVersion } };
    },
  };
}
