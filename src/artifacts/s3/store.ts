import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { Client } from 'minio';
import type { ArtifactPlace } from '../../domain/nouns.ts';
import {
  type ArtifactMeta,
  ArtifactMissing,
  type ArtifactStore,
  type ListedObject,
  StoreAway,
  type StoredBody,
  type Upload,
} from '../artifacts.ts';
import { assertBegin } from '../checked-meta.ts';
import { exactLength } from '../exact-length.ts';
import { assertObjectName, isObjectName, isSegmentName } from '../object-name.ts';
import { readContents, type Tail } from '../segment.ts';
import type { S3Address } from './address.ts';
import { type AgentLimits, agentFor, agentLimits } from './agent.ts';
import { Connections, type UploadLimits, uploadLimits } from './connections.ts';
import { readError, saysMissing, storeError } from './errors.ts';
import { decodeMeta, encodeMeta, fieldsOf } from './meta.ts';
import { S3Upload } from './upload.ts';
import { S3WholeUpload } from './whole-upload.ts';

export interface S3Limits extends UploadLimits, AgentLimits {
  /** For the answer to a ping. */
  readonly pingMs: number;
}

/** No artifact's name begins so. */
const markName = 'weir/mark.json';

const defaults: S3Limits = { ...uploadLimits, ...agentLimits, pingMs: 5_000 };

/**
 * Artifacts in a bucket of any S3 store. Uploads go over connections of our own, since the client
 * buffers and hashes bodies (see `S3Upload`); everything else is the client's.
 */
export class S3Store implements ArtifactStore {
  readonly kind = 's3';
  readonly #address: S3Address;
  readonly #bucket: string;
  readonly #limits: S3Limits;
  readonly #connections: Connections;
  readonly #agent: ReturnType<typeof agentFor>;
  readonly #client: Client;

  constructor(address: S3Address, limits: Partial<S3Limits> = {}) {
    this.#address = address;
    this.#bucket = address.bucket;
    this.#limits = { ...defaults, ...limits };
    this.#connections = new Connections(address, this.#limits);
    this.#agent = agentFor(address.secure, this.#limits);
    this.#client = new Client({
      endPoint: address.host,
      port: address.port,
      useSSL: address.secure,
      accessKey: address.accessKey,
      secretKey: address.secretKey,
      region: address.region,
      transportAgent: this.#agent,
      // Its retries write to the console; ours are the callers'.
      retryOptions: { disableRetry: true },
    });
  }

  async prepare(): Promise<void> {
    await this.#ask('preparing the bucket', async () => {
      if (await this.#client.bucketExists(this.#bucket)) return;
      await this.#client.makeBucket(this.#bucket, this.#address.region).catch(async (error) => {
        // Another process may have been faster.
        if (!(await this.#client.bucketExists(this.#bucket))) throw error;
      });
    });
  }

  begin(object: string, length: number, meta: ArtifactMeta | null): Upload {
    assertBegin(object, length, meta);
    const means = {
      address: this.#address,
      connections: this.#connections,
      responseMs: this.#limits.responseMs,
    };
    if (!meta) return new S3WholeUpload(means, { object, length, meta: {} });
    return new S3Upload(means, { object, length, meta: encodeMeta(meta) });
  }

  async read({ object, offset, length }: ArtifactPlace): Promise<Readable> {
    assertObjectName(object);
    try {
      // To the client a length of 0 means the rest.
      if (length === 0) return await this.#readNothing(object, offset);
      const source = await this.#client.getPartialObject(this.#bucket, object, offset, length);
      return exactLength(source, length, (error) => storeError(error, `reading ${object}`));
    } catch (error) {
      throw readError(error, object);
    }
  }

  async contents(object: string): Promise<readonly StoredBody[]> {
    assertObjectName(object);
    try {
      if (isSegmentName(object)) {
        return await readContents(object, (bytes) => this.#tail(object, bytes));
      }
      return [await this.#look(object)];
    } catch (error) {
      throw readError(error, object);
    }
  }

  async remove(object: string): Promise<void> {
    assertObjectName(object);
    await this.#ask(`removing ${object}`, () => this.#client.removeObject(this.#bucket, object));
  }

  async *list(): AsyncIterable<ListedObject> {
    try {
      for await (const item of this.#client.listObjectsV2(this.#bucket, '', true)) {
        // Whatever else lies in the bucket is not ours.
        const { name: object = '', size: bytes, lastModified } = item;
        if (!isObjectName(object)) continue;
        yield { object, bytes, storedAt: lastModified.getTime(), isSegment: isSegmentName(object) };
      }
    } catch (error) {
      throw storeError(error, 'listing');
    }
  }

  async readMark(): Promise<string | null> {
    return await this.#ask('reading the mark', async () => {
      const found = await this.#client.getObject(this.#bucket, markName).catch((error) => {
        if (saysMissing(error)) return null;
        throw error;
      });
      return found && (await text(found));
    });
  }

  async writeMark(mark: string): Promise<number> {
    return await this.#ask('writing the mark', async () => {
      await this.#client.putObject(this.#bucket, markName, Buffer.from(mark));
      const { lastModified } = await this.#client.statObject(this.#bucket, markName);
      return lastModified.getTime();
    });
  }

  async ping(): Promise<void> {
    const { pingMs } = this.#limits;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`no answer in ${pingMs} ms`)), pingMs);
    await this.#ask('answering a ping', async () => {
      const exists = await Promise.race([this.#client.bucketExists(this.#bucket), late.promise]);
      if (!exists) throw new StoreAway(`the bucket ${this.#bucket} is not there`);
    }).finally(() => clearTimeout(timer));
  }

  async close(): Promise<void> {
    this.#connections.close();
    this.#agent.destroy();
  }

  /** Length, metadata and checksum come in one answer. */
  async #look(object: string): Promise<StoredBody> {
    const { headers } = await this.#client.makeRequestAsyncOmit({
      ...{ method: 'HEAD', bucketName: this.#bucket, objectName: object },
      headers: { 'x-amz-checksum-mode': 'ENABLED' },
    });
    const length = Number(headers['content-length']);
    const checksum = headers['x-amz-checksum-sha256'];
    const sha256 = typeof checksum === 'string' ? Buffer.from(checksum, 'base64') : null;
    return {
      place: { object, offset: 0, length },
      meta: decodeMeta(object, fieldsOf(headers)),
      // Of a body in parts it is a hash of hashes, which says nothing here.
      sha256: sha256?.length === 32 ? sha256 : null,
    };
  }

  async #tail(object: string, bytes: number): Promise<Tail> {
    const request = { method: 'GET', bucketName: this.#bucket, objectName: object };
    const headers = { range: `bytes=-${bytes}` };
    const answer = await this.#client.makeRequestAsync({ ...request, headers }, '', [200, 206]);
    const tail = await buffer(answer);
    const size = /^bytes \d+-\d+\/(\d+)$/.exec(answer.headers['content-range'] ?? '')?.[1];
    return { bytes: tail, size: size === undefined ? tail.length : Number(size) };
  }

  async #readNothing(object: string, offset: number): Promise<Readable> {
    const { size } = await this.#client.statObject(this.#bucket, object);
    if (offset > size) throw new ArtifactMissing(`${object} ends before ${offset}`);
    return Readable.from([]);
  }

  async #ask<T>(doing: string, question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (error) {
      throw storeError(error, doing);
    }
  }
}
