import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { ApplyError } from '../apply/index.ts';
import { applyRefusal, badRequest } from '../status/index.ts';
import { NestingError, parseJson } from './parse-json.ts';
import type { RestContext } from './rest-context.ts';

/** The body of an apply. @throws StatusError 400 for what is no object */
export function parseConfig({ parseYaml }: RestContext, text: string): JsonObject {
  const parsed = parseConfigText(text, parseYaml);
  if (isJsonObject(parsed)) return parsed;
  const what = Array.isArray(parsed) ? 'array' : typeof parsed;
  const target = 'Go value of type map[string]interface {}';
  throw badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${what} into ${target}`,
  );
}

/** JSON is YAML, and what clients send is nearly always JSON. */
function parseConfigText(text: string, parseYaml: ((text: string) => Json) | undefined): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof NestingError)
      throw badRequest(
        'error decoding YAML: error converting YAML to JSON: yaml: exceeded max depth of 10000',
      );
    if (!(error instanceof SyntaxError)) throw error;
    if (parseYaml === undefined) throw badRequest(`error decoding YAML: ${error.message}`);
  }
  try {
    return parseYaml(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw badRequest(`error decoding YAML: ${message}`);
  }
}

/** @throws StatusError for what the merge refuses */
export function applyOrRefuse(apply: () => JsonObject): JsonObject {
  try {
    return apply();
  } catch (error) {
    if (error instanceof ApplyError) throw applyRefusal(error);
    throw error;
  }
}
