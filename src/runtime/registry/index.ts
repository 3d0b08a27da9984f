export type { KnownDefinition, KnownDefinitions } from './known-definition.ts';
export {
  Registry,
  type RegistryOptions,
  type SourceReading,
} from './registry.ts';
export type { TextFindings } from './told-findings.ts';
