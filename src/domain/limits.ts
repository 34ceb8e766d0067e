import { assert } from '../std/assert.ts';

/**
 * Every limit of weir, with its unit in its name. The first block is the contract's
 * (specification, "Limits"; DECISIONS 1–7), the second is ours to tune.
 */
export const limits = {
  deliveryBytesMax: 8_388_608,
  idempotencyKeyCharsMax: 200,
  deliveryIdCharsMax: 200,
  windowDaysMax: 731,
  samplesPerAnswerMax: 5_000,
  signatureToleranceSeconds: 300,
  keyLifetimeDays: 365,
  valueDigitsMax: 76,
  labelCharsMax: 1_024,
  metricKeyCharsMax: 63,
  rejectionsShownMax: 100,
  parserCrashesMax: 3,
  oldSecretHours: 24,

  /** Bytes of bodies held in memory at once, over all requests; beyond it senders are paused. */
  bodyBytesHeldMax: 64 * 1024 * 1024,
  /** Of these, what webhooks may hold whose signature is not checked yet: anybody sends those. */
  unverifiedBytesHeldMax: 24 * 1024 * 1024,
  /** Bodies up to this do not wait for larger ones: these leave so much of a budget free. */
  smallBodyBytesMax: 64 * 1024,
  smallShareBytes: 8 * 1024 * 1024,
  /** Small bodies that are not complete; beyond it the oldest gives way. */
  lobbyBodiesMax: 1_000,
  /** Bodies that wait in one line of a budget; each may hold what came with its head. */
  budgetLineMax: 256,
  /** What a body must come at while others wait for its bytes, without and with a key. */
  unverifiedBytesASecondMin: 512 * 1024,
  keyedBytesASecondMin: 128 * 1024,
  /** Bytes of one upload that may wait for the object store before its sender is paused. */
  uploadBytesAheadMax: 512 * 1024,
  /** Bytes of all uploads that may wait for the object store before paused senders stay paused. */
  uploadBytesOnWayMax: 32 * 1024 * 1024,
  /** Bodies up to this share objects of the store (segments), held until they are complete. */
  segmentBodyBytesMax: 64 * 1024,
  /** Bodies of one segment, and their bytes. */
  segmentBodiesMax: 1_000,
  segmentBytesMax: 1024 * 1024,
  /** Each body has a line in the index, of some 400 bytes; keys and media types may be longer. */
  segmentIndexBytesMax: 4 * 1024 * 1024,
  /**
   * Senders who were answered together come back together: so long the next segment is held for
   * them, as a share of what the last one took and in milliseconds.
   */
  segmentPatience: { share: 0.5, msMax: 10 },
  /** A segment that the store has not taken by then does not hold up the next; so many at once. */
  segmentOvertake: { afterMs: 1_000, groupsMax: 8 },
  /** Bodies that wait for their segment; beyond it the store counts as away. */
  segmentWaitingMax: 20_000,
  /** Bytes of neighbours in a segment that are read at once. */
  togetherBytesMax: 1024 * 1024,
  /** A JSON push above this is checked off the event loop. */
  jsonInlineBytesMax: 64 * 1024,
  /** A sender that is silent for so long is cut off. */
  senderSilenceMs: 20_000,
  /** Bytes of answers that their readers have not taken yet; beyond it the oldest gives way. */
  unreadBytesMax: 64 * 1024 * 1024,
  /** What such an answer must be taken at, looked at so often. */
  readersBytesASecondMin: 16 * 1024,
  readersProgressMs: 10_000,
  /** Bytes of the app's bodies that have not come whole; beyond it the oldest gives way. */
  smallBodiesBytesHeldMax: 16 * 1024 * 1024,
  /** Connections of one listener; fewer where the process may open few files. */
  connectionsMax: 10_000,
  /** A stop cuts connections on which nobody has asked for so long. */
  stopQuietMs: 250,
  /** How much of a refused chunked body is read and thrown away before the socket is closed. */
  discardBytesMax: 64 * 1024 * 1024,
  /** Receipts that share one catalog transaction at most. */
  ledgerGroupMax: 500,
  /** Receipts that wait for their group; beyond it the catalog counts as away. */
  ledgerWaitingMax: 100_000,
  /** Calls that wait for the catalog's thread, or look-ups of one kind for Postgres; then: away. */
  catalogCallsMax: 10_000,
  /** Deliveries that one claim takes. */
  parseClaimMax: 1_000,
  /** Deliveries and bytes that the parse loop holds leases on. */
  parseHeldMax: 10_000,
  parseHeldBytesMax: 64 * 1024 * 1024,
  /** Also how long the deliveries of a dead process wait; extended every third of it. */
  parseLeaseMs: 15_000,
  /** Nobody puts a delivery off for longer, takes a lease or a turn for longer: see `queue.ts`. */
  queueAheadMsMax: 120_000,
  parseDeadlineMs: 120_000,
  /** Questions for single records that wait for the thread that reads them. */
  locateWaitingMax: 64,
  /** What a packed body may come to, and an XLSX or Parquet body with all that is packed in it. */
  unpackedBytesMax: 256 * 1024 * 1024,
  /**
   * Bytes unpacked for each packed one, judged beyond the first mebibyte. Deflate ends at 1,032:1,
   * a CSV of one row over and over reaches some 300:1 and real ones 3:1 to 30:1: what is above was
   * made to be large.
   */
  unpackRatioMax: 1_000,
  unpackRatioFromBytes: 1024 * 1024,
  /** 8 MiB, what RFC 9659 allows a zstd content encoding to ask of a decoder. */
  zstdWindowLogMax: 23,
  zstdFramesMax: 1_024,
  /** XLSX and Parquet are read from their end, so that their bodies are held whole. */
  containerBytesMax: 128 * 1024 * 1024,
  jsonDepthMax: 1_000,
  columnsMax: 10_000,
  recordsMax: 5_000_000,
  cellCharsMax: 1024 * 1024,
  /** Characters of a CSV row, bytes of a JSON element: what is read at once. */
  recordCharsMax: 8_388_608,
  /**
   * Encoded rows that a parse keeps; with more, it judges all first and then reads again. What
   * came packed may be large itself, other bodies leave room.
   */
  rowBytesHeldMax: 128 * 1024 * 1024,
  rowBytesHeldOfPackedMax: 32 * 1024 * 1024,
  /** Encoded rows of one delivery. */
  rowBytesMax: 2 * 1024 * 1024 * 1024,
  parquetFooterBytesMax: 4 * 1024 * 1024,
  /** Of one insert; a single delivery that has more is an insert of its own. */
  insertRowsMax: 100_000,
  insertBytesMax: 32 * 1024 * 1024,
  /** With so many rows or bytes an insert is worth its while, and leaves as soon as it may. */
  insertRowsWorth: 10_000,
  insertBytesWorth: 2 * 1024 * 1024,
  /** With fewer it leaves when its oldest row is so old, and the last one left so long ago. */
  insertWaitMs: 50,
  insertSpacingMs: 750,
  /** Encoded answers of window reads that a process keeps, so as to give them again. */
  answersKeptBytesMax: 32 * 1024 * 1024,
  /** The store's mark is written at most so often, and looked at so often while it does not fit. */
  markEveryMs: 1_000,
  /** Added to the last known sequence by a recovery: the mark may be behind what was given. */
  recoverSequenceGap: 1_000_000,
  /** How far the store's clock may be from ours, and how long an upload may have taken. */
  recoverClocksDifferMs: 15 * 60_000,
  recoverUploadMsMax: 24 * 3_600_000,
  /** Deliveries that a recovery reads at once. */
  recoverAtOnce: 32,
  /** Orphans are counted so often, at so many objects a second at most. */
  orphanCountEveryMs: 5 * 60_000,
  orphanListedASecond: 20_000,
  orphanDaysKept: 30,
  /** Expired ones that one count removes. */
  orphanRemovalsMax: 10_000,
  /** Stored artifacts are checked at so many bytes a second; each counts as so many at least. */
  scrubBytesASecond: 4 * 1024 * 1024,
  scrubObjectBytesMin: 64 * 1024,
  /** A round over all of them begins at most so often. */
  scrubRoundMs: 24 * 3_600_000,
  /** How long the scrubber waits when nothing is due, or a store is away. */
  scrubPauseMs: 5_000,
  /** Passkey challenges that are kept; a further one takes the place of the oldest. */
  challengesMax: 10_000,
} as const;

assert(limits.jsonInlineBytesMax < limits.deliveryBytesMax, 'inline check is for small bodies');
assert(
  limits.bodyBytesHeldMax - limits.unverifiedBytesHeldMax >=
    4 * limits.deliveryBytesMax + limits.smallShareBytes,
  'whatever strangers send, whoever has a key finds room for whole bodies',
);
assert(
  limits.unverifiedBytesHeldMax >= 2 * limits.deliveryBytesMax + limits.smallShareBytes,
  'webhooks find room too',
);
assert(
  limits.segmentBodyBytesMax <= Math.min(limits.smallBodyBytesMax, limits.segmentBytesMax),
  'what shares a segment is a small body, and fits one',
);
assert(
  limits.segmentIndexBytesMax >= limits.segmentBodiesMax * 4 * 1024,
  'the longest line of an index is under 4 KiB',
);
assert(limits.smallShareBytes >= 100 * limits.smallBodyBytesMax, 'many small ones at once');
assert(
  limits.recordCharsMax >= limits.deliveryBytesMax,
  'only a packed body can hold a record that is too long',
);
assert(limits.cellCharsMax < limits.recordCharsMax, 'a record holds cells');
assert(limits.parseDeadlineMs > limits.insertSpacingMs, 'a parse outlives the wait for its insert');
assert(
  limits.queueAheadMsMax >= 4 * limits.parseLeaseMs,
  'a lease of a process whose clock is a minute ahead is a lease',
);
