/**
 * Plants a fault in a source text. A fault names a function, or a call in it, and brings the function to run instead.
 * It refers to nothing else inside the function, so local variables can be renamed; if the name itself is gone,
 * planting fails. Faults are located in the syntax tree and live in tests, never in `src/`.
 */
import { type ESTree, parseSync, Visitor } from "vite"

export interface Change {
  /** Relative to the project's root. */
  readonly file: string
  /** A function of the module, `Class.method`, `Class.#private` or `Class.constructor`; with `call`, any constant too. */
  readonly of: string
  /**
   * One call in that function, by the end of the called path: `isQuorum`, `supply.increase`. By default the whole
   * function is replaced.
   */
  readonly call?: string
  /**
   * A function with the same arguments under its own names. It can use what is visible at its place: `this`, private
   * members, and the module's names. In place of a whole function it is an arrow function, and `original` is the
   * replaced function.
   */
  readonly by: string
}

export interface Fault {
  readonly name: string
  readonly changes: ReadonlyArray<Change>
}

/** A fault in a table: of a single change it states that change, without a list. */
export type Stated<F extends Fault> = Omit<F, "changes"> & (Change | Pick<F, "changes">)

/** Replacement texts by their span in a source; no two overlap. */
type Edits = Array<{ readonly at: ESTree.Span; readonly text: string }>

type Callable = (ESTree.Function & { readonly body: ESTree.FunctionBody }) | ESTree.ArrowFunctionExpression

const parsed = (file: string, source: string): ESTree.Program => {
  const { program, errors } = parseSync(file, source)
  const [error] = errors
  if (error !== undefined) throw new Error(`${error.message} in ${source}`)
  return program
}

const isCallable = (node: ESTree.Node | null): node is Callable =>
  node?.type === "ArrowFunctionExpression" ||
  ((node?.type === "FunctionDeclaration" || node?.type === "FunctionExpression") && node.body !== null)

/** The declarations of a module, by name. */
function* declarations(program: ESTree.Program): Generator<readonly [name: string, node: ESTree.Node | null]> {
  for (const statement of program.body) {
    const node = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    if (node?.type === "FunctionDeclaration" || node?.type === "ClassDeclaration") {
      if (node.id !== null) yield [node.id.name, node]
    } else if (node?.type === "VariableDeclaration") {
      for (const { id, init } of node.declarations) if (id.type === "Identifier") yield [id.name, init]
    }
  }
}

const nameOf = (key: ESTree.Node): string | undefined =>
  key.type === "PrivateIdentifier" ? `#${key.name}` : key.type === "Identifier" ? key.name : undefined

function* functionsNamed(program: ESTree.Program, path: string): Generator<Callable> {
  const [outer, inner] = path.split(".")
  for (const [name, node] of declarations(program)) {
    if (name !== outer) continue
    if (inner === undefined) {
      if (isCallable(node)) yield node
    } else if (node?.type === "ClassDeclaration") {
      for (const member of node.body.body) {
        if (member.type !== "MethodDefinition" || nameOf(member.key) !== inner) continue
        if (isCallable(member.value)) yield member.value
      }
    }
  }
}

/** `this.#dag.at().filter` of `this.#dag.at(round).filter`. */
const pathOf = (node: ESTree.Node): string => {
  switch (node.type) {
    case "Identifier":
      return node.name
    case "ThisExpression":
      return "this"
    case "CallExpression":
      return `${pathOf(node.callee)}()`
    case "MemberExpression":
      return `${pathOf(node.object)}.${(node.computed ? undefined : nameOf(node.property)) ?? "[]"}`
    default:
      return "()"
  }
}

const calleesIn = (program: ESTree.Program, within: ESTree.Span, call: string): ReadonlyArray<ESTree.Node> => {
  const callees: Array<ESTree.Node> = []
  const visitor = new Visitor({
    CallExpression: ({ callee, start, end }) => {
      if (start >= within.start && end <= within.end && `.${pathOf(callee)}`.endsWith(`.${call}`)) callees.push(callee)
    },
  })
  visitor.visit(program)
  return callees
}

/** A fault's arrow function, with its text. */
const arrowOf = (by: string) => {
  const source = `const by = ${by}`
  const [, node] = [...declarations(parsed("by.ts", source))][0] ?? []
  if (node?.type !== "ArrowFunctionExpression") throw new Error(`not an arrow function: ${by}`)
  return { ...node, textOf: ({ start, end }: ESTree.Span) => source.slice(start, end) }
}

/** The rest of a parameter after its name: its type and default. */
const afterName = (source: string, param: ESTree.ParamPattern): string => {
  switch (param.type) {
    case "Identifier":
      return source.slice(param.start + param.name.length, param.end)
    case "ObjectPattern":
    case "ArrayPattern":
      return param.typeAnnotation ? source.slice(param.typeAnnotation.start, param.end) : ""
    case "AssignmentPattern":
      return afterName(source, param.left) + source.slice(param.left.end, param.end)
    case "RestElement":
    case "TSParameterProperty":
      throw new Error(`cannot rename ${source.slice(param.start, param.end)}`)
  }
}

/** Keeps the function's types, and takes the fault's names and body. */
const replaceFunction = (source: string, target: Callable, by: string): Edits => {
  const arrow = arrowOf(by)
  const { body, params, returnType } = target
  const async = target.async ? "async " : ""
  if (arrow.params.length > params.length) throw new Error(`takes ${params.length} arguments, not those of ${by}`)
  const textOf = ({ start, end }: ESTree.Span): string => source.slice(start, end)
  const replaced = arrow.body.type === "BlockStatement" ? arrow.textOf(arrow.body).slice(1, -1) : undefined
  const statements = replaced ?? `return ${arrow.textOf(arrow.body)}`
  const original = `const original = ${async}(${params.map(textOf).join(", ")})${returnType ? textOf(returnType) : ""} => ${
    body.type === "BlockStatement" ? textOf(body) : `(${textOf(body)})`
  }\n`
  return [
    ...params.map((param, i) => {
      const named = arrow.params[i]
      return { at: param, text: `${named === undefined ? `_${i}` : arrow.textOf(named)}${afterName(source, param)}` }
    }),
    { at: body, text: `{\n${/\boriginal\b/.test(by) ? original : ""}${statements}\n}` },
  ]
}

/**
 * Has the type of the called function. A function declaration, since a module may call it before its end is reached.
 */
const INSTEAD = "\nfunction instead<F>(_original: () => F, by: NoInfer<F>): F { return by }\n"

const replaceCallee = (source: string, { start, end }: ESTree.Node, by: string): Edits => [
  { at: { start, end }, text: `instead(() => ${source.slice(start, end)}, ${by})` },
]

const exactlyOne = <A>(what: string, found: Iterable<A>): A => {
  const [first, ...more] = found
  if (first === undefined) throw new Error(`has no ${what}`)
  if (more.length > 0) throw new Error(`has ${more.length + 1} of ${what}, not one`)
  return first
}

const edited = (source: string, edits: Edits): string => {
  // From the end. Text inserted before a span comes after the span's replacement.
  const fromTheEnd = edits.sort((a, b) => b.at.start - a.at.start || b.at.end - a.at.end)
  return fromTheEnd.reduce((text, { at, text: by }) => text.slice(0, at.start) + by + text.slice(at.end), source)
}

const targetOf = (program: ESTree.Program, { of }: Change): Callable => exactlyOne(of, functionsNamed(program, of))

function* valuesNamed(program: ESTree.Program, path: string): Generator<ESTree.Span> {
  for (const [name, node] of declarations(program))
    if (name === path && node !== null && node.type !== "ClassDeclaration") yield node
  if (path.includes(".")) yield* functionsNamed(program, path)
}

const calleeOf = (program: ESTree.Program, of: string, call: string): ESTree.Node =>
  exactlyOne(`call of ${call} in ${of}`, calleesIn(program, exactlyOne(of, valuesNamed(program, of)), call))

const changed = (source: string, change: Change): string => {
  const { file, of, call, by } = change
  const program = parsed(file, source)
  const edits =
    call === undefined
      ? replaceFunction(source, targetOf(program, change), by)
      : replaceCallee(source, calleeOf(program, of, call), by)
  return edited(source, edits)
}

/**
 * The source of this file with the fault's changes; undefined if there are none. A missing or ambiguous name is an
 * error, since a fault that was not planted must not count as found.
 */
export const plant = ({ name, changes }: Fault, file: string, source: string): string | undefined => {
  const here = changes.filter((change) => change.file === file)
  if (here.length === 0) return undefined
  return naming(
    name,
    file,
    () => here.reduce(changed, source) + (here.some(({ call }) => call !== undefined) ? INSTEAD : ""),
  )
}

const naming = <A>(fault: string, file: string, work: () => A): A => {
  try {
    return work()
  } catch (cause) {
    throw new Error(`fault "${fault}": ${file} ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

/** The replacements that several faults have for the same place, by name. */
interface Choice {
  readonly edits: (source: string, arms: Choice["arms"]) => Edits
  readonly arms: Array<readonly [fault: string, by: string]>
}

/** The callee stays if none of the faults is active. The arrow function keeps its receiver. */
const chooseCallee = (source: string, { start, end }: ESTree.Node, arms: Choice["arms"]): Edits => {
  const kept = `(...all) => ${source.slice(start, end)}(...all)`
  const choice = arms.reduceRight(
    (rest, [fault, by]) => `globalThis.chosenFault === "${fault}" ? (${by}) : ${rest}`,
    kept,
  )
  // A bracket at the beginning of a line would continue the previous line.
  return [{ at: { start, end }, text: `Object(${choice})` }]
}

/** The function becomes one that calls its former body, or the active fault's. */
const chooseFunction = (source: string, target: Callable, arms: Choice["arms"]): Edits => {
  const { body, params } = target
  const async = target.async ? "async " : ""
  const names = params.map((_, i) => `_${i}`).join(", ")
  const own = params.map(({ start, end }) => source.slice(start, end)).join(", ")
  const cases = arms.map(([fault, by]) => `case "${fault}": return (${by})(${names})`).join("\n")
  const [open, close] = body.type === "BlockStatement" ? ["", ""] : ["(", ")"]
  return [
    ...params.map((param, i) => ({ at: param, text: `_${i}${afterName(source, param)}` })),
    { at: { start: body.start, end: body.start }, text: `{\nconst original = ${async}(${own}) => ${open}` },
    {
      at: { start: body.end, end: body.end },
      text: `${close}\nswitch (globalThis.chosenFault) {\n${cases}\n}\nreturn original(${names})\n}`,
    },
  ]
}

const placeOf = (program: ESTree.Program, change: Change): readonly [place: string, edits: Choice["edits"]] => {
  const { of, call } = change
  if (call === undefined) {
    const target = targetOf(program, change)
    return [`function ${target.start}`, (source, arms) => chooseFunction(source, target, arms)]
  }
  const callee = calleeOf(program, of, call)
  return [`call ${callee.start}`, (source, arms) => chooseCallee(source, callee, arms)]
}

/**
 * The same for several faults, at most one of which the running program activates (`Chosen.ts`). Without types: the
 * result is for a bundler, not the compiler.
 */
export const plantAll = (faults: ReadonlyArray<Fault>, file: string, source: string): string | undefined => {
  const here = faults.flatMap(({ name, changes }) =>
    changes.filter((change) => change.file === file).map((change) => ({ fault: name, change })),
  )
  if (here.length === 0) return undefined
  const program = parsed(file, source)
  const choices = new Map<string, Choice>()
  for (const { fault, change } of here) {
    naming(fault, file, () => {
      const [place, edits] = placeOf(program, change)
      const choice = choices.get(place) ?? { edits, arms: [] }
      choice.arms.push([fault, change.by])
      choices.set(place, choice)
    })
  }
  return edited(
    source,
    [...choices.values()].flatMap(({ edits, arms }) => edits(source, arms)),
  )
}
