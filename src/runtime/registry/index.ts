export type { KnownDefinition, KnownDefinitions } from './known-definition.ts';
export {
  Registry,
  type RegistryOptions,
  type SourceReading,
  type TextFindings,
} from './registry.ts';
