//! Pieces of a long text that are made while the piece before them is written.

/// Makes something of each piece on all cores and hands it to `write`, in their order: while one is
/// written, the next is made and the piece behind it fetched, so that three are in memory at a time.
///
/// # Errors
/// The first one of `make` or `write`.
pub fn write_while_making<Piece, Made, E>(
    pieces: impl IntoIterator<Item = Piece, IntoIter: Send>,
    make: impl Fn(Piece) -> Result<Made, E> + Sync,
    mut write: impl FnMut(Made) -> Result<(), E> + Send,
) -> Result<(), E>
where
    Piece: Send,
    Made: Send,
    E: Send,
{
    let mut pieces = pieces.into_iter();
    let (mut unwritten, mut next_piece) = (None, pieces.next());
    while let Some(piece) = next_piece {
        let make_and_fetch = || rayon::join(|| make(piece), || pieces.next());
        let write_unwritten = || unwritten.take().map_or(Ok(()), &mut write);
        let (written, (made, fetched)) = rayon::join(write_unwritten, make_and_fetch);
        written?;
        unwritten = Some(made?);
        next_piece = fetched;
    }
    unwritten.map_or(Ok(()), write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_written_in_their_order() {
        let mut written = Vec::new();
        let made = write_while_making(
            0..100,
            |number| Ok::<_, ()>(number * 2),
            |number| {
                written.push(number);
                Ok(())
            },
        );
        assert_eq!(made, Ok(()));
        assert!(written.into_iter().eq((0..100).map(|number| number * 2)));
    }

    #[test]
    fn nothing_is_written_behind_an_error() {
        let mut written = Vec::new();
        let made = write_while_making(
            0..100,
            |number| if number == 3 { Err("made") } else { Ok(number) },
            |number| {
                written.push(number);
                Ok(())
            },
        );
        assert_eq!((made, written), (Err("made"), vec![0, 1, 2]));
        let ends =
            write_while_making(0..100, Ok, |number| if number == 5 { Err(5) } else { Ok(()) });
        assert_eq!(ends, Err(5));
    }
}
