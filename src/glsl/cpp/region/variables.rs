//! Variables that live across barrier regions: fields of the invocation's record.
//!
//! Promises: a variable that a later region names has a field of its own; constants that C++ can
//! tell stand before the loop nests instead.

use super::statement_list;
use crate::cpp::{Emitted, Emitter, Held, Symbol, built_in};
use crate::syntax::{Declaration, Statement, StatementKind};
use std::collections::{BTreeMap, BTreeSet};

impl Emitter<'_> {
    /// Writes a field for every variable that lives across regions of a list of statements or of
    /// those inside it.
    pub(in crate::cpp) fn expand(
        &mut self,
        list: &[Statement],
        known: &mut BTreeSet<String>,
    ) -> Emitted {
        if !list.iter().any(|statement| self.holds_barrier(statement)) {
            return Ok(());
        }
        self.scopes.push(BTreeMap::new());
        for (at, statement) in list.iter().enumerate() {
            if let StatementKind::Declaration(declaration) = &statement.kind {
                self.size_constants(declaration)?;
                let behind = list[at..]
                    .iter()
                    .position(|other| self.holds_barrier(other))
                    .map(|offset| at + offset);
                let later = behind.map_or(&[][..], |behind| &list[behind..]);
                self.expand_declaration(declaration, Some(later), known)?;
            }
            if self.holds_barrier(statement) {
                self.expand_inner(statement, known)?;
            }
        }
        self.scopes.pop();
        Ok(())
    }

    /// Constants of a function, which the sizes of the record's arrays may name.
    fn size_constants(&mut self, declaration: &Declaration) -> Emitted {
        let declared = &declaration.declared;
        for declarator in &declaration.declarators {
            let is_scalar = declared.sizes.is_empty() && declarator.sizes.is_empty();
            let (true, true, Some(initialiser)) =
                (declared.has("const"), is_scalar, &declarator.initialiser)
            else {
                continue;
            };
            let integers = ["int", "uint", "int32_t", "uint32_t"];
            let is_integer = declared.name.is_some_and(|name| integers.contains(&self.text(name)));
            if !is_integer || !self.is_foldable(initialiser) {
                continue;
            }
            let text = format!(
                "kept_{}_{}",
                built_in::spelled(self.text(declarator.name)),
                self.next_number()
            );
            self.out.start();
            self.out.write("static constexpr ");
            self.write_type(declared, &[], None, declarator.name)?;
            self.out.write(&format!(" {text} = "));
            self.initialiser(initialiser, declared.name, 0)?;
            self.out.write(";");
            self.out.end();
            self.declare(self.text(declarator.name), text, Held::Constant, None);
        }
        Ok(())
    }

    fn expand_inner(&mut self, statement: &Statement, known: &mut BTreeSet<String>) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => self.expand(inner, known),
            StatementKind::If { then, otherwise, .. } => {
                self.expand(statement_list(then), known)?;
                otherwise
                    .as_deref()
                    .map_or(Ok(()), |otherwise| self.expand(statement_list(otherwise), known))
            }
            StatementKind::For { init, body, .. } => {
                if let Some(StatementKind::Declaration(declaration)) =
                    init.as_ref().map(|init| &init.kind)
                {
                    self.expand_declaration(declaration, None, known)?;
                }
                self.expand(statement_list(body), known)
            }
            StatementKind::While { body, .. } | StatementKind::DoWhile { body, .. } => {
                self.expand(statement_list(body), known)
            }
            _ => Ok(()),
        }
    }

    /// `later`: the statements behind the declaring region; none where the variable lives across
    /// for certain.
    fn expand_declaration(
        &mut self,
        declaration: &Declaration,
        later: Option<&[Statement]>,
        known: &mut BTreeSet<String>,
    ) -> Emitted {
        let declared = &declaration.declared;
        for declarator in &declaration.declarators {
            let name = self.text(declarator.name);
            let mentioned = |list: &[Statement]| {
                list.iter()
                    .flat_map(|other| other.first..=other.last)
                    .any(|token| self.text(token) == name)
            };
            // One constant may name another.
            if declared.has("const") && self.folds(declarator) {
                self.hoisted.insert(declarator.name);
                continue;
            }
            if later.is_some_and(|later| !mentioned(later)) {
                continue;
            }
            let spelled = built_in::spelled(name);
            let free = std::iter::once(spelled.clone())
                .chain((2..).map(|number| format!("{spelled}_{number}")));
            let field =
                free.into_iter().find(|field| !known.contains(field)).expect("numbers do not end");
            known.insert(field.clone());
            self.out.start();
            let count =
                declarator.initialiser.as_ref().and_then(|initialiser| self.listed(initialiser));
            self.write_type(declared, &declarator.sizes, count, declarator.name)?;
            self.out.write(&format!(" {field}{{}};"));
            self.out.end();
            self.fields.insert(declarator.name, field);
        }
        Ok(())
    }

    fn is_hiding(&self, name: &str) -> bool {
        self.scopes.iter().skip(1).any(|scope| scope.contains_key(name))
    }

    /// Whether a statement declares a variable that lives across regions and hides another one.
    pub(super) fn hides(&self, statement: &Statement) -> bool {
        let StatementKind::Declaration(declaration) = &statement.kind else { return false };
        let kept = declaration
            .declarators
            .iter()
            .filter(|declarator| self.fields.contains_key(&declarator.name));
        kept.into_iter().any(|declarator| self.is_hiding(self.text(declarator.name)))
    }

    /// Makes the variables known that a region declares and others use; constants among them stand
    /// before its nest.
    pub(super) fn announce(&mut self, statements: &[Statement]) -> Emitted {
        for statement in statements {
            let StatementKind::Declaration(declaration) = &statement.kind else { continue };
            for declarator in &declaration.declarators {
                let name = self.text(declarator.name);
                let spelled = built_in::spelled(name);
                if let Some(field) = self.fields.get(&declarator.name).cloned() {
                    let text = if self.is_hiding(name) { format!("kept_{field}") } else { spelled };
                    let shape = self.shape(&declaration.declared, &declarator.sizes);
                    let scope = self.scopes.last_mut().expect("the file's scope is never left");
                    let symbol = Symbol { text, place: Held::Locally, field: Some(field), shape };
                    scope.insert(name.to_owned(), symbol);
                } else if self.hoisted.contains(&declarator.name) {
                    self.variable("constexpr ", &declaration.declared, declarator, Held::Constant)?;
                }
            }
        }
        Ok(())
    }
}
