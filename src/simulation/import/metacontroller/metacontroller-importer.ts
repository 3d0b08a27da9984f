import type { Importer } from '../importer.ts';

/** Converts Metacontroller's CompositeControllers and DecoratorControllers. */
export function createMetacontrollerImporter(): Importer {
  return {
    tool: 'Metacontroller',
    kinds: ['CompositeController', 'DecoratorController'],
    convert: () => [],
  };
}
