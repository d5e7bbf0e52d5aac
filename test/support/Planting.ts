/**
 * Plants a fault in a source text. A fault names what it breaks, a function or a call in it, and brings the function that
 * runs instead. It speaks of nothing inside the function but that call, so a local variable may be renamed; once the name
 * itself is gone, planting fails. Faults are found in the syntax tree and live in tests, never in `src/`.
 */
import { type ESTree, parseSync, Visitor } from "vite"

export interface Change {
  /** From the root of the project. */
  readonly file: string
  /** A function of the module, `Class.method`, `Class.#private` or `Class.constructor`. */
  readonly of: string
  /** One call in that function, by the end of the path that is called: `isQuorum`, `supply.increase`. By default all of it. */
  readonly call?: string
  /**
   * A function that takes the same arguments, under names of its own. It sees what its place sees: `this`, private
   * members, the names of the module. In place of a whole function it is an arrow, and `original` is what it replaces.
   */
  readonly by: string
}

export interface Fault {
  readonly name: string
  readonly changes: ReadonlyArray<Change>
}

/** Texts by their place in a source; no two overlap. */
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

/** What a module declares, by name. */
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

const calleesIn = (program: ESTree.Program, within: Callable, call: string): ReadonlyArray<ESTree.Node> => {
  const callees: Array<ESTree.Node> = []
  const visitor = new Visitor({
    CallExpression: ({ callee, start, end }) => {
      if (start >= within.start && end <= within.end && `.${pathOf(callee)}`.endsWith(`.${call}`)) callees.push(callee)
    },
  })
  visitor.visit(program)
  return callees
}

/** The arrow function that a fault brings, with its text. */
const arrowOf = (by: string) => {
  const source = `const by = ${by}`
  const [, node] = [...declarations(parsed("by.ts", source))][0] ?? []
  if (node?.type !== "ArrowFunctionExpression") throw new Error(`not an arrow function: ${by}`)
  return { ...node, textOf: ({ start, end }: ESTree.Span) => source.slice(start, end) }
}

/** What follows the name of a parameter: its type, and what it is by default. */
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

/** The function keeps its types and takes the names and the body of the fault. */
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

/** Of the type of what is called. Declared as a function, since a module may call it before its end is reached. */
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
  // From the end; what is put before a place comes after what that place becomes.
  const fromTheEnd = edits.sort((a, b) => b.at.start - a.at.start || b.at.end - a.at.end)
  return fromTheEnd.reduce((text, { at, text: by }) => text.slice(0, at.start) + by + text.slice(at.end), source)
}

const targetOf = (program: ESTree.Program, { of }: Change): Callable => exactlyOne(of, functionsNamed(program, of))

const calleeOf = (program: ESTree.Program, target: Callable, of: string, call: string): ESTree.Node =>
  exactlyOne(`call of ${call} in ${of}`, calleesIn(program, target, call))

const changed = (source: string, change: Change): string => {
  const { file, of, call, by } = change
  const program = parsed(file, source)
  const target = targetOf(program, change)
  const edits =
    call === undefined
      ? replaceFunction(source, target, by)
      : replaceCallee(source, calleeOf(program, target, of, call), by)
  return edited(source, edits)
}

/**
 * The source of this file with what the fault changes in it; none if that is nothing. A name that is gone, or means two
 * things, is an error: a fault that was never planted must not pass for one that was found.
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

/** What several faults put into the same place, each by its name. */
interface Choice {
  readonly target: Callable
  /** None where it is the whole function. */
  readonly callee: ESTree.Node | undefined
  readonly arms: Array<readonly [fault: string, by: string]>
}

/** The callee stays where none of the faults is chosen; the arrow keeps what it is called on. */
const chooseCallee = (source: string, { start, end }: ESTree.Node, arms: Choice["arms"]): Edits => {
  const kept = `(...all) => ${source.slice(start, end)}(...all)`
  const choice = arms.reduceRight(
    (rest, [fault, by]) => `globalThis.chosenFault === "${fault}" ? (${by}) : ${rest}`,
    kept,
  )
  // A bracket at the beginning of a line would go on with the line before it.
  return [{ at: { start, end }, text: `Object(${choice})` }]
}

/** The function becomes one that calls what it was, or what a fault has in its place. */
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

/**
 * The same for several faults, of which a program chooses one while it runs (`Chosen.ts`). Without types: it is for a
 * bundler, not for the compiler.
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
      const target = targetOf(program, change)
      const callee = change.call === undefined ? undefined : calleeOf(program, target, change.of, change.call)
      const place = `${(callee ?? target).start} ${callee === undefined}`
      const choice = choices.get(place) ?? { target, callee, arms: [] }
      choice.arms.push([fault, change.by])
      choices.set(place, choice)
    })
  }
  const edits = [...choices.values()].flatMap(({ target, callee, arms }) =>
    callee === undefined ? chooseFunction(source, target, arms) : chooseCallee(source, callee, arms),
  )
  return edited(source, edits)
}
