import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { definitionSchema } from '../../src/definition/index.ts';
import { ajvOptions } from '../../src/definition/schema/schema-findings.ts';

/**
 * In the bundle the check of the definition format is compiled already, by ajv as at run time: 40 ms less of each start, and no ajv.
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

/** A module with an `Ajv` that knows one schema. */
function compiledCheck() {
  const ajv = new Ajv({
    ...ajvOptions,
    code: { ...ajvOptions.code, source: true, esm: true, lines: true },
  });
  const code = standaloneCode(ajv, ajv.compile(definitionSchema));
  const id = JSON.stringify(definitionSchema.$id);
  return `${code.replace('export default ', 'const compiled = ')}
export class Ajv {
  compile(schema) {
    if (schema.$id !== ${id}) throw new Error('The bundle of Homeostat checks the format of definitions only');
    return compiled;
  }
}`;
}
