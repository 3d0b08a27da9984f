import { createDefinitionParser, type DefinitionParser } from '../../src/definition/index.ts';

/** The one parser of all tests of a process: it keeps nothing of what it reads, and takes 20 ms to make. */
export const definitionParser: DefinitionParser = createDefinitionParser();
