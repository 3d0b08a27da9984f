export { ProtobufReader, protobufType } from './read-protobuf.ts';
