// SPDX-License-Identifier: Apache-2.0
// Perfetto's own reader of traces, as its page runs it in a worker, asked from a command line:
//
//   node perfetto_query.js FOLDER_OF_THE_PAGE TRACE SQL...
//
// prints a list of rows for each query. FOLDER_OF_THE_PAGE has engine_bundle.js and trace_processor.wasm; the messages are
// those of perfetto's trace_processor.proto (TraceProcessorRpcStream).
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [page, trace, ...queries] = process.argv.slice(2);
const APPEND = 1, FINALIZE = 2, QUERY = 3;  // TraceProcessorMethod

function varint(number) {
  const out = [];
  for (; number > 127; number = Math.floor(number / 128)) out.push(number % 128 + 128);
  return [...out, number];
}
const number = (field, value) => Buffer.from([...varint(field * 8), ...varint(value)]);
const bytes = (field, value) => Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(value.length)]), value]);

// Calls `take(field, value)` for each field: a BigInt, or the bytes.
function fields(message, take) {
  let at = 0;
  const read = () => {
    let value = 0n, shift = 0n, byte;
    do {
      byte = message[at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte > 127);
    return value;
  };
  while (at < message.length) {
    const key = Number(read());
    const kind = key % 8, field = Math.floor(key / 8);
    if (kind === 0) {
      take(field, read());
      continue;
    }
    const size = kind === 2 ? Number(read()) : kind === 1 ? 8 : 4;
    take(field, message.subarray(at, at + size));
    at += size;
  }
}

function varints(packed) {
  const out = [];
  for (let at = 0; at < packed.length;) {
    let end = at;
    while (packed[end] > 127) ++end;
    fields(Buffer.concat([Buffer.from([8]), packed.subarray(at, end + 1)]), (_, value) => out.push(value));
    at = end + 1;
  }
  return out;
}

// The cells of a QueryResult, batch after batch.
function rows_of(results) {
  const columns = [], cells = [];
  for (const result of results) {
    fields(result, (field, value) => {
      if (field === 1) columns.push(value.toString());
      if (field === 2 && value.length) throw new Error(value.toString());
      if (field === 3) add_batch(value, cells);
    });
  }
  const rows = [];
  for (let at = 0; at < cells.length; at += columns.length) {
    rows.push(Object.fromEntries(columns.map((name, i) => [name, cells[at + i]])));
  }
  return rows;
}

function add_batch(batch, cells) {
  let kinds = [], whole = [], real = [], texts = [];
  fields(batch, (field, value) => {
    if (field === 1) kinds = varints(value).map(Number);
    if (field === 2) whole = varints(value).map((one) => Number(BigInt.asIntN(64, one)));
    if (field === 3) for (let i = 0; i < value.length; i += 8) real.push(value.readDoubleLE(i));
    if (field === 5) texts = value.toString().split('\0');
  });
  for (const kind of kinds) {
    cells.push(kind === 1 ? null : kind === 2 ? whole.shift() : kind === 3 ? real.shift() : texts.shift());
  }
}

// The page's worker, which must not notice that this is Node. Bytes of answers go to `answered`.
function start_worker(answered) {
  const file = (name) => new Uint8Array(fs.readFileSync(path.join(page, path.basename(name))));
  Object.assign(globalThis, {self: globalThis, WorkerGlobalScope: Object, location: {href: 'http://localhost/'}});
  globalThis.XMLHttpRequest = class {
    open(_, name) { this.name = name; }
    send() { this.response = file(this.name).buffer; }
  };
  console.log = console.warn = () => {};
  vm.runInThisContext(`(function(process, require, module, exports) {${Buffer.from(file('engine_bundle.js'))}})`)();
  const port = {postMessage: answered};
  globalThis.onmessage({data: port});
  return (message) => port.onmessage({data: new Uint8Array(message)});
}

// One message of the stream; the field of its answer that is asked for, as often as it comes, for that is in pieces.
function asker() {
  let sequence = 0, answers = [], failure;
  const send = start_worker((message) => fields(Buffer.from(message), (_, one) => fields(one, (field, value) => {
    if (field === 5) failure = value.toString();  // fatal_error
    if (value instanceof Uint8Array) answers.push([field, value]);
  })));
  return (method, more, wanted) => {
    answers = [];
    send(bytes(1, Buffer.concat([number(1, ++sequence), number(2, method), more])));
    if (failure) throw new Error(failure);
    return answers.filter(([field]) => field === wanted).map(([, value]) => value);
  };
}

async function main() {
  const ask = asker();
  await new Promise(setImmediate);  // for the reader to be built
  for (const answer of ask(APPEND, bytes(101, fs.readFileSync(trace)), 201)) {
    fields(answer, (field, value) => { if (field === 2 && value.length) throw new Error(value.toString()); });
  }
  ask(FINALIZE, Buffer.alloc(0), 0);
  const out = queries.map((query) => rows_of(ask(QUERY, bytes(103, bytes(1, Buffer.from(query))), 203)));
  process.stdout.write(JSON.stringify(out) + '\n');
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
