import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { definitionSchema, operatorFuzzSchema, operatorTestSchema } from '#definition';
import { ajvOptions } from '#definition/schema/schema-findings.ts';

/**
 * In the bundle the checks of our formats are compiled already, by ajv as at run time: 40 ms less of each start, and no ajv. Each is a module
 * of its own, which is loaded when its first file is read.
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
      build.onResolve({ filter: /^check-of:/ }, ({ path }) => ({ path, namespace }));
      build.onLoad({ filter: /./, namespace }, ({ path }) => ({
        contents: path === 'ajv' ? compiledChecks : checkOf(schemas[path.replace('check-of:', '')]),
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
const compiledChecks = `const checks = {
${Object.entries(schemas)
  .map(([name, { $id }]) => `  ${JSON.stringify($id)}: () => require('check-of:${name}'),`)
  .join('\n')}
};
export class Ajv {
  compile({ $id }) {
    const load = checks[$id];
    if (load === undefined) throw new Error('The bundle of Homeostat checks only its own formats');
    return load();
  }
}`;

/** The check of a schema, as a CommonJS module. The build has the time to optimize the code. */
function checkOf(schema) {
  const ajv = new Ajv({ ...ajvOptions, code: { source: true, lines: true, optimize: true } });
  return standaloneCode(ajv, ajv.compile(schema));
}
