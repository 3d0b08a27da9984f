import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import {
  definitionSchema,
  operatorFuzzSchema,
  operatorTestSchema,
} from '../../src/definition/index.ts';
import { ajvOptions } from '../../src/definition/schema/schema-findings.ts';

/**
 * In the bundle the checks of our formats are compiled already, by ajv as at run time: 40 ms less of each start, and no ajv.
 * The smoke test compares what the bundle and the sources say of files with mistakes.
 */
export function definitionCheckPlugin() {
  const namespace = 'definition-check';
  return {
    name: namespace,
    setup(build) {
      build.onResolve({ filter: /^ajv$/ }, ({ importer }) =>
        /[\\/]schema-findings\.ts$/.test(importer) ? { path: 'ajv', namespace } : undefined,
      );
      build.onLoad({ filter: /./, namespace }, () => ({
        contents: compiledCheck(),
        resolveDir: process.cwd(),
      }));
    },
  };
}

const schemas = {
  definition: definitionSchema,
  operatorTest: operatorTestSchema,
  operatorFuzz: operatorFuzzSchema,
};

/** A module with an `Ajv` that knows these schemas. */
function compiledCheck() {
  const ajv = new Ajv({
    ...ajvOptions,
    schemas: Object.values(schemas),
    code: { ...ajvOptions.code, source: true, esm: true, lines: true },
  });
  const ids = Object.fromEntries(Object.entries(schemas).map(([name, { $id }]) => [name, $id]));
  const byId = Object.entries(ids).map(([name, id]) => `[${JSON.stringify(id)}, ${name}]`);
  return `${standaloneCode(ajv, ids)}
const compiled = new Map([${byId.join(', ')}]);
export class Ajv {
  compile(schema) {
    const check = compiled.get(schema.$id);
    if (check === undefined) throw new Error('The bundle of Homeostat checks only its own formats');
    return check;
  }
}`;
}
